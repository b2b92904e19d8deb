use super::*;
use marey::{Run, SeriesInfo, Unit};
use marey_testing::RunBuilder;

fn points(drawn: &[(u64, f64)]) -> Vec<SeriesPoint> {
    let info = SeriesInfo::gauge("x", "", Unit::Count);
    RunBuilder::new().series(info, drawn).finish(0).series.remove(0).points
}

fn bucket(first_ns: u64, last_ns: u64, values: &[f64]) -> SeriesPoint {
    SeriesPoint {
        first_ns,
        last_ns,
        count: u32::try_from(values.len()).unwrap(),
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        sum: values.iter().sum(),
        last: *values.last().unwrap(),
    }
}

fn empty(wall_ns: u64) -> Run {
    RunBuilder::new().finish(wall_ns)
}

#[test]
fn a_reading_stands_for_the_time_half_way_to_its_neighbours() {
    // 0         10        20        30        40
    //      2              6    4
    // |    5+7.5  | 7.5+2.5 |2.5+5|
    let drawn = points(&[(5, 2.0), (20, 6.0), (25, 4.0)]);
    assert_eq!(weights(&drawn, 40), [12.5, 10.0, 7.5]);
    let run = empty(40);
    let found = gauge(&drawn, &SectionLookup::new(&run)).unwrap();
    let expected = (2.0 * 12.5 + 6.0 * 10.0 + 4.0 * 7.5) / 30.0;
    assert_eq!((found.mean, found.n_readings), (expected, 3));
    assert_eq!((found.min, found.max, found.last), (2.0, 6.0, 4.0));
    assert_eq!((found.peak.start_ns, found.peak.end_ns), (20, 20));
}

#[test]
fn readings_in_a_bucket_count_as_their_mean_for_as_long_as_it_lasts() {
    // |-- 1 3 5 --|     7
    // 0          20    30
    let drawn = vec![bucket(0, 20, &[1.0, 3.0, 5.0]), bucket(30, 30, &[7.0])];
    assert_eq!(integral(&drawn, 30), (3.0 * 25.0 + 7.0 * 5.0, 30.0));
    let run = empty(30);
    let found = gauge(&drawn, &SectionLookup::new(&run)).unwrap();
    assert_eq!((found.n_readings, found.min, found.max), (4, 1.0, 7.0));
}

#[test]
fn one_reading_is_a_gauge_and_no_rate() {
    let run = empty(10);
    let places = SectionLookup::new(&run);
    let drawn = points(&[(5, 2.0)]);
    assert_eq!(gauge(&drawn, &places).unwrap().mean, 2.0);
    assert_eq!(growth(&drawn, &places), None);
    assert_eq!(integral(&drawn, 10), (0.0, 0.0));
    assert_eq!(gauge(&[], &places), None);
}

#[test]
fn a_counter_grows_between_its_readings() {
    // 0 s: 7, 2 s: 9, 3 s: 12
    let second = 1_000_000_000;
    let drawn = points(&[(0, 7.0), (2 * second, 9.0), (3 * second, 12.0)]);
    let run = empty(4 * second);
    let found = growth(&drawn, &SectionLookup::new(&run)).unwrap();
    assert_eq!((found.total, found.over_ns), (5.0, 3 * second));
    let rate = found.per_second;
    assert_eq!((rate.min, rate.mean, rate.max), (1.0, 5.0 / 3.0, 3.0));
    assert_eq!((rate.peak.start_ns, rate.peak.end_ns), (2 * second, 3 * second));
}

#[test]
fn a_counter_that_fell_began_anew() {
    let second = 1_000_000_000;
    let drawn = points(&[(0, 7.0), (second, 2.0), (2 * second, 5.0)]);
    let run = empty(4 * second);
    let found = growth(&drawn, &SectionLookup::new(&run)).unwrap();
    assert_eq!((found.total, found.over_ns), (3.0, second));
}

#[test]
fn a_counter_grows_within_its_first_bucket() {
    let second = 1_000_000_000;
    let drawn = vec![bucket(0, second, &[1.0, 4.0])];
    let run = empty(second);
    let found = growth(&drawn, &SectionLookup::new(&run)).unwrap();
    assert_eq!((found.total, found.over_ns), (3.0, second));
}

#[test]
fn several_series_are_added_where_all_of_them_were_read() {
    // a   1    2    3    4
    // b   10   20             nothing after that
    let a = points(&[(10, 1.0), (20, 2.0), (30, 3.0), (40, 4.0)]);
    let b = points(&[(11, 10.0), (21, 20.0)]);
    let sum = together(&[a.clone(), b.clone()], Merge::Sum);
    let shown: Vec<(u64, f64)> = sum.iter().map(|p| (p.last_ns, p.last)).collect();
    assert_eq!(shown, [(10, 11.0), (20, 22.0)]);
    let highest = together(&[a, b], Merge::Highest);
    assert_eq!(highest[0].max, 10.0);
    assert_eq!(together(&[], Merge::Sum), []);
}

#[test]
fn what_is_no_number_is_passed_over() {
    let drawn = points(&[(0, f64::NAN), (10, 2.0), (20, f64::INFINITY)]);
    assert_eq!(sound(&drawn).len(), 1);
}
