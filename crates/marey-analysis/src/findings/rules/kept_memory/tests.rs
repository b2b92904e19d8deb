use super::*;
use crate::findings::rules::tests::check_run;
use marey::{Run, SeriesInfo, Unit};
use marey_testing::RunBuilder;

const GIB: u64 = 1 << 30;

/// A text encoder from 0 to 10 within a request, then denoising to 40; readings as time and GiB.
fn run(readings: &[(u64, u64)]) -> Run {
    let mut builder = RunBuilder::new()
        .section("text_encoding", 1, 10, |s| {
            s.section("t5", 2, 9, |_| {});
        })
        .section("denoise", 11, 40, |_| {});
    for (at_ns, gib) in readings {
        builder = builder.memory(MemoryReading {
            at_ns: *at_ns,
            label: None,
            source: MemorySource::TorchCuda(0),
            allocated_bytes: gib * GIB,
            reserved_bytes: None,
            peak_bytes: None,
            session: None,
        });
    }
    builder.finish(50)
}

const KEPT: [(u64, u64); 6] = [(0, 1), (5, 6), (8, 9), (12, 9), (25, 12), (35, 13)];

#[test]
fn an_encoder_that_stays_under_a_later_peak_is_found_once_and_innermost() {
    let Outcome::Found(found) = check_run(&RULE, &run(&KEPT)) else {
        panic!("not found");
    };
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].issue,
        "t5 kept its memory on cuda:0 after it was done: 61.5 % of the later peak"
    );
    assert_eq!(found[0].saving.as_ref().unwrap().at_most_bytes, Some(8 * GIB));
    let time = found[0].intervals[0];
    assert_eq!((time.start_ns, time.end_ns), (9, 35));
}

#[test]
fn an_encoder_that_gave_its_memory_back_is_well() {
    let given_back = run(&[(0, 1), (5, 6), (8, 9), (12, 1), (25, 4), (35, 13)]);
    let found = check_run(&RULE, &given_back);
    assert!(matches!(found, Outcome::Passed(_)), "{found:?}");
}

#[test]
fn another_stages_memory_at_the_first_reading_is_not_taken_for_its_own() {
    // Given back, but the transformer was there before anything was read again.
    let found = check_run(&RULE, &run(&[(0, 1), (5, 6), (8, 9), (25, 12), (35, 13)]));
    assert!(matches!(found, Outcome::Passed(_)), "{found:?}");
}

#[test]
fn memory_that_nobody_missed_is_no_finding() {
    // The peak was the stage's own.
    let own_peak = run(&[(0, 1), (5, 6), (8, 9), (12, 9), (35, 9)]);
    assert!(matches!(check_run(&RULE, &own_peak), Outcome::Passed(_)));
    // 13 of 80 GiB.
    #[expect(clippy::cast_precision_loss, reason = "a few GiB")]
    let bytes = |gib: u64| (gib * GIB) as f64;
    let gauge = |name| SeriesInfo::gauge(name, "GPU-1", Unit::Bytes);
    let roomy = RunBuilder::new()
        .with(|made| *made = run(&KEPT))
        .series(gauge("gpu.memory.used"), &[(5, bytes(9)), (35, bytes(13))])
        .series(gauge("gpu.memory.total"), &[(5, bytes(80)), (35, bytes(80))])
        .finish(50);
    assert!(matches!(check_run(&RULE, &roomy), Outcome::Passed(_)));
}

#[test]
fn a_fifth_of_the_highest_reading_is_not_more_than_a_fifth() {
    // Kept 2 of 10, in a stage that grew by 2.
    let few = run(&[(0, 1), (5, 3), (8, 3), (12, 3), (35, 10)]);
    assert!(matches!(check_run(&RULE, &few), Outcome::Passed(_)));
    let more = run(&[(0, 1), (5, 4), (8, 4), (12, 4), (35, 10)]);
    assert!(matches!(check_run(&RULE, &more), Outcome::Found(_)));
}

#[test]
fn without_readings_before_during_and_after_nobody_can_tell() {
    for readings in [vec![], vec![(0, 1), (5, 9)], vec![(5, 9), (12, 9)]] {
        let found = check_run(&RULE, &run(&readings));
        assert!(matches!(found, Outcome::Unknown(_)), "{found:?}");
    }
}
