use super::*;
use crate::series::Unit;

fn words() -> (Vec<AtomicU64>, ProcessLayout) {
    let layout = ProcessLayout::new([0, 0, 0, 0, 0, 8]);
    let words = std::iter::repeat_with(AtomicU64::default);
    (words.take(layout.end).collect(), layout)
}

fn bucket(start: u64, width: u64, last: u64, rounds: u32) -> Bucket {
    Bucket { start, width, first: start, last, rounds }
}

fn infos() -> Vec<SeriesInfo> {
    vec![
        SeriesInfo::gauge("often", "", Unit::Watts),
        SeriesInfo::cumulative("rarely", "GPU-1", Unit::Joules),
        SeriesInfo::gauge("never", "", Unit::Bytes),
    ]
}

#[test]
fn what_is_not_read_in_every_round_is_shown_as_it_was_read_last() {
    let (words, layout) = words();
    let table = SeriesTable::new(&words, &layout);
    let place = table.place(&infos(), 7).unwrap();
    assert_eq!(table.latest(), []);
    let none = Readings::default();
    table.publish(place, bucket(10, 0, 10, 1), &[Readings::of(1.0), Readings::of(5.0), none]);
    table.publish(place, bucket(20, 0, 20, 1), &[Readings::of(2.0), none, none]);
    table.publish(place, bucket(30, 0, 30, 1), &[Readings::of(3.0), none, none]);
    let [often, rarely, _] = infos().try_into().unwrap();
    assert_eq!(table.latest(), [(often, 3.0, 30), (rarely, 5.0, 10)]);
    // Rounds of their own are notes already.
    assert_eq!(table.open_buckets(), []);
}

#[test]
fn a_bucket_that_is_being_filled_holds_what_was_read_in_it_and_no_more() {
    let (words, layout) = words();
    let table = SeriesTable::new(&words, &layout);
    let place = table.place(&infos(), 7).unwrap();
    let mut often = Readings::of(4.0);
    let none = Readings::default();
    table.publish(place, bucket(40, 0, 40, 1), &[often, Readings::of(9.0), none]);
    often = Readings::of(1.0);
    table.publish(place, bucket(60, 20, 60, 1), &[often, none, none]);
    often.add(2.0);
    table.publish(place, bucket(60, 20, 70, 2), &[often, none, none]);
    let [(last, Note::Samples(samples))] = &table.open_buckets()[..] else {
        panic!("one bucket");
    };
    assert_eq!((*last, samples.group, samples.rounds), (70, 7, 2));
    let counts: Vec<u32> = samples.values.iter().map(|v| v.count).collect();
    assert_eq!(counts, [2, 0, 0]);
    assert_eq!(samples.values[0], often);
}

#[test]
fn the_place_of_a_sampler_that_ended_is_used_again_under_another_number() {
    let (words, layout) = words();
    let table = SeriesTable::new(&words, &layout);
    for group in 0..40 {
        let place = table.place(&infos(), group).unwrap();
        assert_eq!((place.group(), place.n_series()), (group, 3));
        table.publish(place, bucket(1, 0, 1, 1), &[Readings::of(f64::from(group)); 3]);
        let shown: Vec<f64> = table.latest().iter().map(|(_, value, _)| *value).collect();
        assert_eq!(shown, [f64::from(group); 3]);
        table.retire(place);
        assert_eq!(table.latest(), []);
    }
}
