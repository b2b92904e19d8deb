use super::*;
use crate::{Diffusion, Thresholds, diffusion};
use marey::{DiffusionStep, Generation};
use marey_testing::RunBuilder;

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
fn what_a_cache_saved_is_known_of_each_pipeline() {
    // P computes 4 steps of 40; Q 3 of 10 and 2 of 6 that its cache answered.
    let tag = |name: &str| vec![("pipeline".to_owned(), name.into())];
    let mut builder = RunBuilder::new().session("p", 0, Some(200), tag("P")).session(
        "q",
        200,
        Some(300),
        tag("Q"),
    );
    let p = [40, 40, 40, 40].map(|ns| (0, ns));
    let q = [10, 10, 6, 10, 6].map(|ns| (1, ns));
    let (mut at_ns, mut n) = (0, [0, 0]);
    for (session, ns) in p.into_iter().chain(q) {
        at_ns = if session == 1 && n[1] == 0 { 200 } else { at_ns } + ns;
        let step = DiffusionStep {
            step: Some(n[session as usize]),
            computation_ns: Some(ns),
            ..DiffusionStep::default()
        };
        n[session as usize] += 1;
        builder = builder.generation(at_ns, Some(session), Generation::Step(step));
    }
    let events = [(2, 225), (4, 241)];
    let events = events.map(|(step, at_ns)| event(at_ns, HIT, Some(step), None));
    let run = builder.with(|run| run.cache_events = events.to_vec()).finish(300);
    let caching = diffusion(&run, &Thresholds::default()).unwrap().caching;
    let caching = caching.unwrap();
    assert_eq!((caching.n_cached, caching.saved_ns), (2, Some(8.0)));
}

#[test]
fn chunks_that_are_counted_on_in_the_next_generation_name_no_block() {
    // Two generations of two blocks of two steps; the recorder of the cache counts chunks 0 to 3.
    let mut builder =
        RunBuilder::new().session("a", 0, Some(100), vec![]).session("b", 100, Some(200), vec![]);
    let mut events = Vec::new();
    for chunk in 0..4_u64 {
        let (session, begun_ns) = (u32::from(chunk > 1), chunk * 50);
        for number in [0, 1] {
            let end_ns = begun_ns + 20 * (number + 1);
            let step = DiffusionStep {
                step: Some(number),
                computation_ns: Some(20),
                ..DiffusionStep::default()
            };
            builder = builder.generation(end_ns, Some(session), Generation::Step(step));
            let outcome = if number == 0 { MISS } else { HIT };
            events.push(event(end_ns - 5, outcome, Some(number), Some(chunk)));
        }
        let block = marey::BlockComputation {
            index: Some(chunk % 2),
            computation_ns: Some(45),
            ..marey::BlockComputation::default()
        };
        builder = builder.generation(begun_ns + 45, Some(session), Generation::Block(block));
    }
    let run = builder.with(|run| run.cache_events = events).finish(200);
    let found = diffusion(&run, &Thresholds::default()).unwrap();
    assert_eq!(marks(&found), [Some(false), Some(true)].repeat(4));
}

#[test]
fn a_decision_before_the_time_that_was_reported_is_of_the_next_report() {
    // 0     50      100     150     200     250     300     350     400    two generations
    //     |-- 40 --|    |-5-|     |- 40 --|     |-5-| …                    as reported
    // miss          hit      miss          hit                             made first in each step
    let mut builder = RunBuilder::new();
    for n in 0..8_u64 {
        let step = DiffusionStep {
            step: Some(n % 4),
            computation_ns: Some(if n % 2 == 1 { 5 } else { 40 }),
            ..DiffusionStep::default()
        };
        builder = builder.generation((n + 1) * 50, None, Generation::Step(step));
    }
    let made = |n: u64| event(n * 50 + 1, if n % 2 == 1 { HIT } else { MISS }, None, None);
    let run = builder.with(|run| run.cache_events = (0..8).map(made).collect());
    let found = diffusion(&run.finish(400), &Thresholds::default()).unwrap();
    let caching = found.caching.unwrap();
    assert_eq!((caching.n_cached, caching.n_computed), (4, 4));
    assert_eq!(caching.saved_ns, Some(140.0));
}

#[test]
fn a_computed_step_is_no_outlier_among_cached_ones() {
    let steps: Vec<_> = (0..9).map(|n| (n, if n % 3 == 1 { 100 } else { 20 })).collect();
    let outcome = |n: u64| if n % 3 == 1 { MISS } else { HIT };
    let events = (0..9).map(|n| event(n, outcome(n), Some(n), None)).collect();
    assert!(answered(&steps, events).steps.unwrap().outliers.is_empty());
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
        let step = DiffusionStep { step: Some(number), ..DiffusionStep::default() };
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
        CacheEvent { cache: "kv_cache".into(), ..event(250, HIT, None, None) },
        event(260, CacheOutcome::Eviction, None, None),
    ];
    assert_eq!(marks(&answered(&steps, events)), [None, Some(false), None]);
}

#[test]
fn one_of_two_caches_is_enough_to_answer_a_step() {
    let steps = [(0, 100), (1, 100)];
    let other = |event: CacheEvent| CacheEvent { cache: "first_block_cache".into(), ..event };
    let events = vec![event(150, MISS, None, None), other(event(151, HIT, None, None))];
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

#[test]
fn decisions_of_two_tasks_of_a_thread_are_of_the_steps_of_each() {
    // task 1   |-- 40 --|-5-|             a decision 10 into each step, and 1 into the cached ones
    // task 2    |-- 40 --|-5-|            1 later, in the same thread
    let mut builder =
        RunBuilder::new().session("one", 0, Some(45), vec![]).session("two", 1, Some(46), vec![]);
    let mut events = Vec::new();
    for (number, length_ns, end_ns) in [(0, 40, 40), (1, 5, 45)] {
        for task in 0..2_u64 {
            let step = DiffusionStep {
                step: Some(number),
                computation_ns: Some(length_ns),
                ..DiffusionStep::default()
            };
            let session = u32::try_from(task).ok();
            builder = builder.generation(end_ns + task, session, Generation::Step(step));
            let (outcome, after_ns) = if number == 0 { (MISS, 10) } else { (HIT, 1) };
            events.push(CacheEvent {
                session,
                ..event(end_ns - length_ns + after_ns + task, outcome, None, None)
            });
        }
    }
    let run = builder.with(|run| {
        for record in &mut run.generation {
            record.flow = if record.session == Some(0) { 1 } else { 2 };
        }
        run.cache_events = events;
    });
    let found = diffusion(&run.finish(46), &Thresholds::default()).unwrap();
    assert_eq!(marks(&found), [false, false, true, true].map(Some));
}
