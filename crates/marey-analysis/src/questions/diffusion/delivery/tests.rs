use super::*;
use crate::{Thresholds, diffusion};
use marey::{Generation, StreamingEvent};
use marey_testing::RunBuilder;

const MS: u64 = 1_000_000;

/// Deliveries as milliseconds, session and frames, to a viewer of 10 frames in a second.
fn watched(events: &[(u64, Option<u32>, u64)]) -> Delivery {
    let mut builder = RunBuilder::new();
    for (at_ms, session, frames) in events {
        let event = StreamingEvent { frames: Some(*frames), ..StreamingEvent::default() };
        builder = builder.generation(at_ms * MS, *session, Generation::Streaming(event));
    }
    answer(&builder.finish(100_000 * MS)).unwrap()
}

fn answer(run: &Run) -> Option<Delivery> {
    let mut limits = Thresholds::default();
    limits.set("playback_frames_per_second", 10.0).unwrap();
    diffusion(run, &limits)?.delivery
}

#[test]
fn a_viewer_stands_still_when_it_has_played_all_that_came() {
    // The drawing above: 5 frames are 500 ms.
    let found = watched(&[(0, None, 5), (500, None, 5), (1400, None, 5), (1900, None, 5)]);
    let deadlines: Vec<_> = found.each.iter().map(|p| p.deadline_ns).collect();
    let ms = |ms: u64| Some(ms * MS);
    assert_eq!(deadlines, [None, ms(500), ms(1000), ms(1900)]);
    let stalls: Vec<u64> = found.each.iter().map(|p| p.stalled_ns / MS).collect();
    assert_eq!(stalls, [0, 0, 400, 0]);
    assert_eq!((found.deadlines_met, found.deadlines_missed), (2, 1));
    assert_eq!((found.stalled_ns, found.time_to_first_ns), (400 * MS, 0));
    // 15 frames are 1.5 s, and came in 1.9 s.
    assert_eq!(found.real_time_factor, Some(1.5 / 1.9));
}

#[test]
fn frames_ahead_are_those_at_the_first_delivery_from_which_it_never_stands_still() {
    // From 0 on it stands still from 1000 to 1400. From 500 on it has 10 frames until 1500, then 5 until 2000.
    let found = watched(&[(0, None, 5), (500, None, 5), (1400, None, 5), (1900, None, 5)]);
    assert_eq!(found.frames_ahead_needed, 10);
    let steady = watched(&[(0, None, 5), (500, None, 5), (900, None, 5)]);
    assert_eq!(steady.frames_ahead_needed, 5);
    // Each comes a second later than the one before was played: only with all of them it could play on.
    let slow = watched(&[(0, None, 1), (1100, None, 1), (2200, None, 1)]);
    assert_eq!(slow.frames_ahead_needed, 3);
}

#[test]
fn times_between_deliveries_have_percentiles_and_jitter() {
    let found = watched(&[(100, None, 1), (200, None, 1), (320, None, 1), (400, None, 1)]);
    let between = found.between.unwrap();
    assert_eq!((between.p50_ns, between.p99_ns), (100 * MS, 120 * MS));
    // |100 − 120| and |120 − 80|
    assert_eq!(found.jitter_ns, Some(30e6));
    assert_eq!(found.time_to_first_ns, 100 * MS);
}

#[test]
fn one_delivery_has_no_deadline_and_no_rate() {
    let found = watched(&[(700, None, 16)]);
    assert_eq!((found.deadlines_met, found.deadlines_missed), (0, 0));
    assert_eq!((found.real_time_factor, found.jitter_ns), (None, None));
    assert_eq!((&found.between, found.frames_ahead_needed), (&None, 16));
}

#[test]
fn each_session_has_a_viewer_of_its_own() {
    // Alternating, each in time for its own viewer: 5 frames every 500 ms.
    let mut builder = RunBuilder::new().session("a", 0, Some(1_500 * MS), vec![]).session(
        "b",
        0,
        Some(1_500 * MS),
        vec![],
    );
    for at_ms in [100_u64, 300, 600, 800, 1100] {
        let event = StreamingEvent { frames: Some(5), ..StreamingEvent::default() };
        let session = u32::from(at_ms == 300 || at_ms == 800);
        builder = builder.generation(at_ms * MS, Some(session), Generation::Streaming(event));
    }
    let found = answer(&builder.finish(2_000 * MS)).unwrap();
    assert_eq!((found.deadlines_met, found.deadlines_missed), (3, 0));
    assert_eq!(found.between.unwrap().max_ns, 500 * MS);
}

#[test]
fn deliveries_that_say_nothing_are_left_out() {
    let run = RunBuilder::new()
        .generation(5, None, Generation::Streaming(StreamingEvent::default()))
        .finish(10);
    assert_eq!(answer(&run), None);
}

#[test]
fn a_rate_that_is_none_has_no_viewer() {
    let event = StreamingEvent { frames: Some(1), ..StreamingEvent::default() };
    let run = RunBuilder::new().generation(5, None, Generation::Streaming(event)).finish(10);
    let assignment = SessionAssignment::new(&run);
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(delivery(&run, &assignment, rate), None);
    }
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let event = |frames| {
        Generation::Streaming(StreamingEvent { frames: Some(frames), ..StreamingEvent::default() })
    };
    let run = RunBuilder::new()
        .generation(0, None, event(u64::MAX))
        .generation(u64::MAX, Some(7), event(u64::MAX))
        .generation(u64::MAX, None, event(1))
        .finish(1);
    let found = answer(&run).unwrap();
    assert_eq!(found.each.len(), 3);
    assert_eq!(found.deadlines_missed, 0);
}
