use super::*;
use crate::{Diffusion, Thresholds, diffusion};
use marey::{DiffusionStep, Generation, RunBuilder};

fn event(at_ns: u64, outcome: CacheOutcome, step: Option<u64>, block: Option<u64>) -> CacheEvent {
    CacheEvent {
        at_ns,
        cache: "teacache".into(),
        outcome,
        step,
        block,
        score: None,
        threshold: None,
        held_bytes: None,
        attributes: vec![],
        session: None,
    }
}

/// Steps one after the other, by number and length, and decisions.
fn answered(steps: &[(u64, u64)], events: Vec<CacheEvent>) -> Diffusion {
    let mut builder = RunBuilder::new();
    let mut at_ns = 0;
    for (number, length_ns) in steps {
        at_ns += length_ns;
        let step = DiffusionStep {
            step: Some(*number),
            computation_ns: Some(*length_ns),
            ..DiffusionStep::default()
        };
        builder = builder.generation(at_ns, None, Generation::Step(step));
    }
    let run = builder.with(|run| run.cache_events = events).finish(at_ns);
    diffusion(&run, &Thresholds::default()).unwrap()
}

fn marks(found: &Diffusion) -> Vec<Option<bool>> {
    let steps = found.steps.as_ref().unwrap();
    steps.each.iter().map(|step| step.is_cached).collect()
}

const HIT: CacheOutcome = CacheOutcome::Hit;
const MISS: CacheOutcome = CacheOutcome::Miss;

#[test]
fn the_time_saved_is_that_of_the_steps_that_were_not_computed() {
    // 0                 300       400 420       520 540
    // |------- 0 -------|--- 1 ---|-2-|--- 3 ---|-4-|
    //                    miss      hit miss      hit
    let steps = [(0, 300), (1, 100), (2, 20), (3, 100), (4, 20)];
    let events = vec![
        event(301, MISS, None, None),
        event(401, HIT, None, None),
        event(421, MISS, None, None),
        event(521, HIT, None, None),
    ];
    let found = answered(&steps, events);
    let expected = [None, Some(false), Some(true), Some(false), Some(true)];
    assert_eq!(marks(&found), expected);
    let caching = found.caching.unwrap();
    assert_eq!((caching.n_cached, caching.n_computed), (2, 3));
    assert_eq!(caching.cached.unwrap().p50_ns, 20);
    // The warm-up is no measure of a computed step.
    let computed = caching.computed.unwrap();
    assert_eq!((computed.count, computed.p50_ns), (2, 100));
    assert_eq!(caching.saved_ns, Some(160.0));
}

#[test]
fn a_decision_with_a_number_is_of_the_nearest_step_with_it() {
    // Two loops of two steps. Recorded in the step, after its report, and in the next loop.
    let steps = [(0, 100), (1, 100), (0, 100), (1, 100)];
    let events = vec![
        event(50, MISS, Some(0), None),
        event(201, HIT, Some(1), None),
        event(250, MISS, Some(0), None),
        event(310, HIT, Some(1), None),
    ];
    let expected = [Some(false), Some(true), Some(false), Some(true)];
    assert_eq!(marks(&answered(&steps, events)), expected);
}

#[test]
fn a_decision_with_a_block_is_of_that_block() {
    let mut builder = RunBuilder::new();
    for (at_ns, number) in [(1, 0), (2, 1), (3, 0), (4, 1)] {
        let step = DiffusionStep {
            step: Some(number),
            ..DiffusionStep::default()
        };
        builder = builder.generation(at_ns, None, Generation::Step(step));
        if number == 1 {
            let block = marey::BlockComputation {
                index: Some(at_ns / 3),
                ..marey::BlockComputation::default()
            };
            builder = builder.generation(at_ns, None, Generation::Block(block));
        }
    }
    // All recorded at the end.
    let run = builder
        .cache_event(event(9, HIT, Some(1), Some(0)))
        .cache_event(event(9, MISS, Some(1), Some(1)))
        .finish(10);
    let found = diffusion(&run, &Thresholds::default()).unwrap();
    assert_eq!(marks(&found), [None, Some(true), None, Some(false)]);
    let caching = found.caching.unwrap();
    assert_eq!((caching.cached, caching.saved_ns), (None, None));
}

#[test]
fn a_step_of_which_a_part_was_computed_is_not_cached() {
    let steps = [(0, 100), (1, 100), (2, 100)];
    let events = vec![
        event(150, HIT, None, None),
        event(160, MISS, None, None),
        CacheEvent {
            cache: "kv_cache".into(),
            ..event(250, HIT, None, None)
        },
        event(260, CacheOutcome::Eviction, None, None),
    ];
    assert_eq!(marks(&answered(&steps, events)), [None, Some(false), None]);
}

#[test]
fn one_of_two_caches_is_enough_to_answer_a_step() {
    let steps = [(0, 100), (1, 100)];
    let other = |event: CacheEvent| CacheEvent {
        cache: "first_block_cache".into(),
        ..event
    };
    let events = vec![
        event(150, MISS, None, None),
        other(event(151, HIT, None, None)),
    ];
    assert_eq!(marks(&answered(&steps, events)), [None, Some(true)]);
}

#[test]
fn a_decision_between_steps_is_of_none() {
    let steps = [(0, 100), (1, 100)];
    let found = answered(&steps, vec![event(200, HIT, None, None)]);
    assert_eq!((marks(&found), found.caching), (vec![None, None], None));
    let found = answered(&steps, vec![event(150, HIT, Some(9), None)]);
    assert_eq!(found.caching, None);
}

#[test]
fn cached_steps_that_took_longer_saved_less_than_nothing() {
    let steps = [(0, 100), (1, 100), (2, 130)];
    let found = answered(&steps, vec![event(250, HIT, Some(2), None)]);
    assert_eq!(found.caching.unwrap().saved_ns, Some(-30.0));
}
