use marey::{CacheEvent, CacheOutcome, Section};
use marey_testing::RunBuilder;

use super::*;

fn drawn(report: &Report) -> (usize, serde_json::Value) {
    let json = crate::html::json(&Pictures::new(report));
    (json.len(), serde_json::from_slice(&json).unwrap())
}

#[test]
fn pictures_stay_small_whatever_the_run() {
    let cache_event = |n: u64| CacheEvent {
        at_ns: n,
        cache: "teacache".into(),
        outcome: CacheOutcome::Hit,
        step: Some(n),
        block: None,
        score: Some(0.1),
        threshold: None,
        held_bytes: None,
        attributes: vec![],
        session: None,
    };
    let run = RunBuilder::new()
        .iteration("denoising_step", 0, 1, |_| {})
        .with(|run| {
            run.cache_events = (0..100_000).map(cache_event).collect();
            run.sections = (0..200_000)
                .map(|n| Section { start_ns: n * 10, end_ns: n * 10 + 9, ..run.sections[0] })
                .collect();
        })
        .finish(2_000_000);
    let (bytes, found) = drawn(&Report::new(&run));
    assert!(bytes <= MAX_BYTES + 1_000, "{bytes}");
    let events = found["cache_events"].as_array().unwrap();
    let steps = found["diffusion"]["steps"]["each"].as_array().unwrap();
    assert_eq!((events.len(), steps.len()), (4_000, 4_000));
    // Every 25th.
    assert_eq!(events[3_999]["at_ns"], 99_975);
}

#[test]
fn every_call_path_is_kept_however_long_they_are_together() {
    let mut builder = RunBuilder::new();
    for n in 0..3_000 {
        builder = builder.section(&format!("section {n}"), n, n + 1, |_| {});
    }
    let (_, found) = drawn(&Report::new(&builder.finish(3_000)));
    assert_eq!(found["call_paths"].as_array().unwrap().len(), 3_000);
}

#[test]
fn outliers_keep_their_steps() {
    let each = |n: u64| StepPoint { end_ns: n, ..StepPoint::default() };
    let mut steps: Vec<StepPoint> = (0..1_000).map(each).collect();
    let mut outliers = vec![3, 777, 998];
    shorten_steps(&mut steps, &mut outliers, 20);
    assert!(steps.len() <= 20);
    let ends = outliers.iter().map(|n| steps[*n].end_ns);
    assert_eq!(ends.collect::<Vec<u64>>(), [3, 777, 998]);
}
