use crate::{StepSource, Steps, Thresholds, diffusion};
use marey::{BlockComputation, DiffusionStep, Generation, Run};
use marey_testing::RunBuilder;

const MS: u64 = 1_000_000;

fn found(run: &Run) -> Steps {
    let answer = diffusion(run, &Thresholds::default()).unwrap();
    answer.blocks.unwrap()
}

fn block(index: u64, ms: u64) -> Generation {
    Generation::Block(BlockComputation {
        index: Some(index),
        size: Some(3),
        computation_ns: Some(ms * MS),
        memory_bytes: Some((index + 1) << 30),
    })
}

#[test]
fn a_block_of_3_frames_in_400_ms_is_7_5_frames_and_2_5_blocks_a_second() {
    let run = RunBuilder::new().generation(400 * MS, None, block(0, 400)).finish(500 * MS);
    let found = found(&run);
    assert_eq!(found.loops_per_second, Some(2.5));
    assert_eq!(found.frames_per_second, Some(7.5));
    assert_eq!((found.total_frames, found.steady), (Some(3), None));
    assert_eq!((found.between, found.jitter_ns), (None, None));
    assert_eq!(found.time_to_first_ns, Some(400 * MS));
}

#[test]
fn times_between_blocks_are_between_their_ends() {
    // ms        0    100        500      610      700       830
    // session        |
    // blocks           |-- 0 ---||-- 1 --| |- 2 --| |-- 3 --|
    // between                   |  110   |   90   |   130   |    jitter (20 + 40) / 2
    let run = RunBuilder::new()
        .session("clip", 100 * MS, Some(900 * MS), vec![])
        .generation(500 * MS, Some(0), block(0, 390))
        .generation(610 * MS, Some(0), block(1, 110))
        .generation(700 * MS, Some(0), block(2, 80))
        .generation(830 * MS, Some(0), block(3, 120))
        .finish(1000 * MS);
    let found = found(&run);
    assert_eq!(found.time_to_first_ns, Some(400 * MS));
    let between = found.between.unwrap();
    assert_eq!((between.count, between.total_ns), (3, 330 * MS));
    assert_eq!((between.p50_ns, between.p95_ns), (110 * MS, 130 * MS));
    assert_eq!(found.jitter_ns, Some(30e6));
    assert_eq!(found.warm_up.unwrap().total_ns, 390 * MS);
    let steady = found.steady.unwrap();
    assert_eq!((steady.count, steady.p50_ns), (3, 110 * MS));
    let memory = found.memory_bytes.unwrap();
    let gib = 1_073_741_824.0;
    assert_eq!((memory.min, memory.max), (gib, 4.0 * gib));
}

#[test]
fn the_time_between_generations_is_not_a_time_between_blocks() {
    // Two generations without sessions, a minute apart.
    let run = RunBuilder::new()
        .generation(100, None, block(0, 0))
        .generation(200, None, block(1, 0))
        .generation(60_000, None, block(0, 0))
        .generation(60_300, None, block(1, 0))
        .finish(70_000);
    let found = found(&run);
    let generations: Vec<u64> = found.each.iter().map(|b| b.loop_number).collect();
    assert_eq!(generations, [0, 0, 1, 1]);
    let between = found.between.unwrap();
    assert_eq!((between.min_ns, between.max_ns), (100, 300));
}

#[test]
fn without_reports_sections_of_blocks_are_the_blocks() {
    let run = RunBuilder::new()
        .iteration("block", 10, 30, |s| {
            s.iteration("denoising_step", 11, 20, |_| {});
            s.iteration("denoising_step", 20, 29, |_| {});
        })
        .iteration("block", 30, 45, |s| {
            s.iteration("denoising_step", 31, 37, |_| {});
            s.iteration("denoising_step", 37, 44, |_| {});
        })
        .finish(50);
    let answer = diffusion(&run, &Thresholds::default()).unwrap();
    let blocks = answer.blocks.unwrap();
    assert_eq!(blocks.source, StepSource::Iterations("block".into()));
    let ends: Vec<_> = blocks.each.iter().map(|b| (b.step, b.end_ns)).collect();
    assert_eq!(ends, [(0, 30), (1, 45)]);
    let steps = answer.steps.unwrap();
    let of: Vec<_> = steps.each.iter().map(|s| (s.block, s.step)).collect();
    let expected = [(Some(0), 0), (Some(0), 1), (Some(1), 0), (Some(1), 1)];
    assert_eq!(of, expected);
    assert_eq!((steps.n_loops, steps.per_loop_max), (2, 2));
}

#[test]
fn a_step_is_of_the_block_that_ends_next() {
    let step = |n| Generation::Step(DiffusionStep { step: Some(n), ..DiffusionStep::default() });
    let run = RunBuilder::new()
        .generation(10, None, step(0))
        .generation(20, None, step(1))
        .generation(20, None, block(7, 0))
        .generation(30, None, step(2))
        .generation(40, None, block(8, 0))
        .generation(50, None, step(3))
        .finish(60);
    let answer = diffusion(&run, &Thresholds::default()).unwrap();
    let each = answer.steps.unwrap().each;
    let blocks: Vec<_> = each.iter().map(|s| s.block).collect();
    assert_eq!(blocks, [Some(7), Some(7), Some(8), None]);
}

#[test]
fn blocks_that_say_nothing_have_no_figures() {
    let none = Generation::Block(BlockComputation::default());
    let run =
        RunBuilder::new().generation(10, None, none.clone()).generation(20, None, none).finish(30);
    let found = found(&run);
    assert_eq!((found.loops_per_second, found.frames_per_second), (None, None));
    assert_eq!((&found.warm_up, &found.steady), (&None, &None));
    assert_eq!((found.frames, found.total_frames), (None, None));
    assert_eq!(found.memory_bytes, None);
    // When they were reported is known all the same.
    assert_eq!(found.between.unwrap().p50_ns, 10);
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let largest = Generation::Block(BlockComputation {
        index: Some(u64::MAX),
        size: Some(u64::MAX),
        computation_ns: Some(u64::MAX),
        memory_bytes: Some(u64::MAX),
    });
    let run = RunBuilder::new()
        .generation(u64::MAX, None, largest.clone())
        .generation(u64::MAX, None, largest)
        .finish(1);
    let found = found(&run);
    assert!(found.loops_per_second.unwrap().is_finite());
    assert_eq!(found.total_frames, Some(u64::MAX));
}
