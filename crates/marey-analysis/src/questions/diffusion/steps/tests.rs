use crate::{Diffusion, StepPoint, StepSource, Steps, Thresholds, diffusion};
use marey::{DiffusionStep, Generation, Run, Value};
use marey_testing::RunBuilder;

const MS: u64 = 1_000_000;

fn found(run: &Run) -> Steps {
    answer(run).steps.unwrap()
}

fn answer(run: &Run) -> Diffusion {
    diffusion(run, &Thresholds::default()).unwrap()
}

fn step(step: u64, ms: u64) -> DiffusionStep {
    DiffusionStep { step: Some(step), computation_ns: Some(ms * MS), ..DiffusionStep::default() }
}

/// Steps one after the other.
fn reported(steps: &[DiffusionStep]) -> Run {
    let mut builder = RunBuilder::new();
    let mut at_ns = 0;
    for step in steps {
        at_ns += step.computation_ns.unwrap_or(10 * MS);
        builder = builder.generation(at_ns, None, Generation::Step(step.clone()));
    }
    builder.finish(at_ns)
}

#[test]
fn a_block_of_3_frames_and_4_steps_of_100_ms_is_7_5_frames_and_2_5_blocks_a_second() {
    // The original said 30 and 10: it counted the frames of each step.
    let steps = [0, 1, 2, 3].map(|n| DiffusionStep {
        block_size: Some(3),
        timestep: Some(1.0 - 0.25 * f64::from(u32::try_from(n).unwrap())),
        ..step(n, 100)
    });
    let found = found(&reported(&steps));
    assert_eq!(found.total_frames, Some(3));
    assert_eq!(found.frames_per_second, Some(7.5));
    assert_eq!(found.loops_per_second, Some(2.5));
    assert_eq!(found.total_ns, 400 * MS);
    let timesteps = found.timesteps.unwrap();
    assert_eq!((timesteps.min, timesteps.mean, timesteps.max), (0.25, 0.625, 1.0));
}

#[test]
fn steps_that_are_counted_down_are_one_loop() {
    // 50 steps of 20.4 ms that make 3 frames: 1.02 s.
    let steps: Vec<_> = (0..50_u32)
        .rev()
        .map(|n| DiffusionStep {
            block_size: Some(3),
            timestep: Some(f64::from(n) / 50.0),
            computation_ns: Some(20_400_000),
            ..step(n.into(), 0)
        })
        .collect();
    let found = found(&reported(&steps));
    assert_eq!((found.n_loops, found.per_loop_max), (1, 50));
    let per_second = found.frames_per_second.unwrap();
    assert!((per_second - 3.0 / 1.02).abs() < 1e-9, "{per_second}");
}

#[test]
fn a_guided_step_is_as_long_as_both_of_its_passes() {
    // |- cond 12 -|- uncond 8 -| four times, 3 frames: 3 in 80 ms are 37.5
    let passes = [(0, 12), (0, 8), (1, 12), (1, 8), (2, 12), (2, 8), (3, 12), (3, 8)];
    let passes = passes.map(|(n, ms)| DiffusionStep { block_size: Some(3), ..step(n, ms) });
    let found = found(&reported(&passes));
    assert_eq!((found.n_loops, found.per_loop_max), (1, 4));
    let each = found.each.iter().map(|step| (step.n_passes, step.duration_ns));
    assert_eq!(each.collect::<Vec<_>>(), [(2, Some(20 * MS)); 4]);
    assert_eq!(found.steady.unwrap().p50_ns, 20 * MS);
    assert_eq!(found.frames_per_second, Some(37.5));
}

#[test]
fn a_pass_without_a_time_leaves_its_step_without_one() {
    let unknown = DiffusionStep { step: Some(1), ..DiffusionStep::default() };
    let found = found(&reported(&[step(0, 5), step(0, 5), step(1, 5), unknown]));
    let each = found.each.iter().map(|step| step.duration_ns);
    assert_eq!(each.collect::<Vec<_>>(), [Some(10 * MS), None]);
}

#[test]
fn eight_blocks_of_four_steps_are_four_steps_a_generation_and_not_32() {
    let steps: Vec<_> = (0..32).map(|n| step(n % 4, 10)).collect();
    let found = found(&reported(&steps));
    assert_eq!((found.n_loops, found.per_loop_max), (8, 4));
    assert_eq!(found.each.len(), 32);
    let last = found.each.last().unwrap();
    assert_eq!((last.loop_number, last.step), (7, 3));
}

#[test]
fn the_first_step_is_apart_from_the_others() {
    let found = found(&reported(&[step(0, 900), step(1, 30), step(2, 50)]));
    let warm_up = found.warm_up.unwrap();
    assert_eq!((warm_up.count, warm_up.total_ns), (1, 900 * MS));
    let steady = found.steady.unwrap();
    assert_eq!((steady.count, steady.total_ns), (2, 80 * MS));
    assert_eq!((steady.p50_ns, steady.p95_ns), (40 * MS, 50 * MS));
    assert!(found.each[0].is_warm_up && !found.each[1].is_warm_up);
}

#[test]
fn one_step_has_no_steady_state() {
    let found = found(&reported(&[step(0, 900)]));
    assert_eq!((found.n_loops, found.per_loop_max), (1, 1));
    assert_eq!(found.steady, None);
    assert!(found.outliers.is_empty());
    assert_eq!(found.frames_per_second, None);
}

#[test]
fn a_step_without_a_time_has_none() {
    let unknown = DiffusionStep {
        step: Some(0),
        timestep: Some(f64::NAN),
        guidance_scale: Some(f64::INFINITY),
        ..DiffusionStep::default()
    };
    let found = found(&reported(&[unknown, step(1, 20)]));
    assert_eq!(found.warm_up, None);
    assert_eq!(found.each[0].duration_ns, None);
    assert_eq!((found.each[0].timestep, found.each[0].guidance_scale), (None, None));
    assert_eq!(found.timesteps, None);
    // The loop took an unknown time.
    assert_eq!(found.loops_per_second, None);
}

#[test]
fn outliers_are_far_above_the_median() {
    // Median 100, deviation 1: the limit is 110.
    let ms = [500, 99, 100, 101, 100, 99, 101, 110, 111, 100];
    let steps: Vec<_> = (0..).zip(ms).map(|(n, ms)| step(n, ms)).collect();
    assert_eq!(found(&reported(&steps)).outliers, [8]);
    // The longest is shown first, wherever it lies.
    let ms = [500, 99, 100, 120, 100, 99, 325, 100, 130, 100];
    let steps: Vec<_> = (0..).zip(ms).map(|(n, ms)| step(n, ms)).collect();
    assert_eq!(found(&reported(&steps)).outliers, [6, 8, 3]);
    let same: Vec<_> = (0..5).map(|n| step(n, 100)).collect();
    assert!(found(&reported(&same)).outliers.is_empty());
}

#[test]
fn generations_that_report_nothing_keep_their_loops() {
    // ms      0       40  |   100        200
    // told    |--- 2 × 20 |   |              | 3 iterations of 30, and a loop of 10 outside of all sessions
    let told = |n: u64| Generation::Step(step(n, 20));
    let builder = RunBuilder::new()
        .session("told", 0, Some(50 * MS), vec![])
        .generation(20 * MS, Some(0), told(0))
        .generation(40 * MS, Some(0), told(1))
        .section("within", 0, 45 * MS, |s| {
            s.iteration("denoising_step", 0, 20 * MS, |_| {});
            s.iteration("denoising_step", 20 * MS, 40 * MS, |_| {});
        })
        .session("turned", 100 * MS, Some(200 * MS), vec![])
        .iteration("denoising_step", 100 * MS, 130 * MS, |_| {})
        .iteration("denoising_step", 130 * MS, 160 * MS, |_| {})
        .iteration("denoising_step", 160 * MS, 190 * MS, |_| {});
    let run = builder.finish(200 * MS);
    let found = found(&run);
    let lengths: Vec<_> = found.each.iter().map(|step| step.duration_ns).collect();
    assert_eq!(lengths, [20, 20, 30, 30, 30].map(|ms| Some(ms * MS)));
    assert_eq!((found.n_loops, found.source), (2, StepSource::Reported));
    // A report of no session speaks of all of them.
    let mut of_none = run;
    of_none.generation[0].session = None;
    of_none.generation[0].at_ns = 60 * MS;
    let found = answer(&of_none).steps.unwrap();
    assert_eq!(found.each.len(), 2);
}

#[test]
fn what_is_encoded_or_decoded_between_turns_without_numbers_ends_their_loop() {
    // text_encoding |-|                     |-|
    // step            |0||1||2|                |0||1||2|          a preview within a step ends nothing
    // vae_decode               |-|                      |-|
    let mut builder = RunBuilder::new();
    for clip in [0, 100] {
        let at = |ms: u64| (clip + ms) * MS;
        builder = builder.section("text_encoding", at(0), at(10), |_| {});
        for n in [10, 20, 30] {
            builder = builder.iteration("denoising_step", at(n), at(n + 10), |s| {
                s.section("vae_decode", at(n + 5), at(n + 9), |_| {});
            });
        }
        builder = builder.section("vae_decode", at(40), at(50), |_| {});
    }
    let found = found(&builder.finish(200 * MS));
    assert_eq!((found.n_loops, found.per_loop_max), (2, 3));
    let numbers: Vec<u64> = found.each.iter().map(|step| step.step).collect();
    assert_eq!(numbers, [0, 1, 2, 0, 1, 2]);
}

#[test]
fn steps_of_a_larger_clip_are_compared_among_themselves() {
    // 8 steps of 10, then 8 of 30 and one of those 90; both begin at 0.
    let ms = [[10; 8], [30, 30, 30, 90, 30, 30, 30, 30]].concat();
    let steps: Vec<_> = (0..).zip(&ms).map(|(n, ms)| step(n % 8, *ms)).collect();
    assert_eq!(found(&reported(&steps)).outliers, [11]);
    // Loops of three, each longer than the one before: none is far above its own.
    let ms = [10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40, 10, 10, 10];
    let steps: Vec<_> = (0..).zip(ms).map(|(n, ms)| step(n % 3, ms)).collect();
    assert!(found(&reported(&steps)).outliers.is_empty());
    let ms = [10, 10, 10, 10, 10, 10, 10, 10, 90, 10, 10, 10];
    let steps: Vec<_> = (0..).zip(ms).map(|(n, ms)| step(n % 3, ms)).collect();
    assert_eq!(found(&reported(&steps)).outliers, [8]);
}

#[test]
fn a_report_without_a_time_takes_that_of_the_only_step_it_can_be_about() {
    // ms      0        10       20       30
    // step    |-- a --|  |- b -|   |- c --|
    // reports          0       1          2 3
    let none = |n| DiffusionStep { step: Some(n), ..DiffusionStep::default() };
    let run = RunBuilder::new()
        .iteration("denoising_step", 0, 9 * MS, |_| {})
        .iteration("denoising_step", 12 * MS, 18 * MS, |_| {})
        .iteration("denoising_step", 22 * MS, 29 * MS, |_| {})
        .generation(10 * MS, None, Generation::Step(none(0)))
        .generation(18 * MS, None, Generation::Step(none(1)))
        .generation(29 * MS, None, Generation::Step(none(2)))
        .generation(30 * MS, None, Generation::Step(none(3)))
        .finish(40 * MS);
    let found = found(&run);
    assert_eq!(found.source, StepSource::Reported);
    let durations: Vec<_> = found.each.iter().map(|step| step.duration_ns).collect();
    assert_eq!(durations, [Some(9 * MS), Some(6 * MS), None, None]);
}

#[test]
fn without_reports_the_turns_of_a_denoising_loop_are_the_steps() {
    // 0         10        20        30        40
    // |--- generate -----|  |---- generate ---|
    //  |step||step|            |step| |step||step|
    let run = RunBuilder::new()
        .section("generate", 0, 18, |s| {
            s.iteration("denoising_step", 1, 7, |_| {});
            s.iteration("denoising_step", 7, 12, |_| {});
        })
        .section("generate", 20, 40, |s| {
            s.iteration("denoising_step", 22, 27, |_| {});
            s.iteration("denoising_step", 28, 33, |_| {});
            s.iteration("denoising_step", 33, 38, |_| {});
        })
        .finish(40);
    let found = found(&run);
    assert_eq!(found.source, StepSource::Iterations("denoising_step".into()));
    assert_eq!((found.n_loops, found.per_loop_max), (2, 3));
    assert_eq!(found.steady.unwrap().total_ns, 5 + 5 + 5 + 5);
    let steps: Vec<u64> = found.each.iter().map(|step| step.step).collect();
    assert_eq!(steps, [0, 1, 0, 1, 2]);
}

#[test]
fn steps_of_many_names_are_one_loop() {
    let run = RunBuilder::new()
        .section("generate", 0, 30, |s| {
            s.section("denoising_step_0", 0, 10, |_| {});
            s.section("denoising_step_1", 10, 20, |_| {});
            s.section("denoising_step_2", 20, 30, |_| {});
        })
        .finish(30);
    let found = found(&run);
    assert_eq!(found.source, StepSource::Sections("denoising_step_0".into()));
    assert_eq!((found.n_loops, found.per_loop_max), (1, 3));
}

#[test]
fn a_turn_around_each_step_is_not_its_loop() {
    let run = RunBuilder::new()
        .section("generate", 0, 30, |s| {
            for n in 0..3 {
                s.iteration("turn", n * 10, n * 10 + 10, |s| {
                    s.section("denoising_step", n * 10, n * 10 + 9, |_| {});
                });
            }
        })
        .finish(30);
    assert_eq!(found(&run).per_loop_max, 3);
}

#[test]
fn a_number_given_to_a_section_is_the_number_of_the_step() {
    let run = RunBuilder::new()
        .section("generate", 0, 30, |s| {
            s.section("denoising_step", 0, 10, |_| {})
                .attributes(vec![("step".into(), Value::Int(4))]);
            s.section("denoising_step", 10, 20, |_| {})
                .attributes(vec![("step".into(), Value::Int(5))]);
            s.section("denoising_step", 20, 30, |_| {})
                .attributes(vec![("step".into(), Value::Int(-1))]);
        })
        .finish(30);
    let found = found(&run);
    let steps: Vec<u64> = found.each.iter().map(|step| step.step).collect();
    assert_eq!(steps, [4, 5, 6]);
}

#[test]
fn steps_that_were_dropped_are_counted() {
    let mut run = RunBuilder::new()
        .iteration("denoising_step", 0, 10, |_| {})
        .iteration("denoising_step", 10, 20, |_| {})
        .finish(20);
    run.sections.truncate(1);
    let found = found(&run);
    assert_eq!((found.each.len(), found.not_recorded), (1, 1));
}

#[test]
fn sessions_are_loops_of_their_own() {
    let run = RunBuilder::new()
        .session("a", 0, Some(20), vec![])
        .session("b", 20, Some(40), vec![])
        .generation(10, Some(0), Generation::Step(step(0, 0)))
        .generation(30, None, Generation::Step(step(1, 0)))
        .finish(40);
    let found = found(&run);
    assert_eq!(found.n_loops, 2);
    assert_eq!(found.each[1].session, Some(1));
}

#[test]
fn a_loop_outlasts_the_session_of_another_thread_and_is_of_none() {
    // ms          0         10        20        30        40
    // session A   |---------------------|                     in the main thread
    // other          |1||2||3||4||5||6||7||8|                 two passes a step; the loop is of no session
    // third             |1||2||3|                             of A, which lasts longer
    let pass = |number| Generation::Step(DiffusionStep { block_size: Some(3), ..step(number, 1) });
    let ms = 1_000_000;
    let mut run = RunBuilder::new().session("A", 0, Some(23 * ms), vec![]).thread("other");
    for (at, number) in (1..).zip([0, 0, 1, 1, 2, 2, 3, 3]) {
        run = run.generation((3 + 3 * at) * ms, None, pass(number));
    }
    run = run.thread("third");
    for number in 0..3 {
        run = run.generation((9 + 3 * number) * ms, None, pass(number));
    }
    let run = run.with(|run| run.generation.sort_by_key(|record| record.at_ns)).finish(40 * ms);
    let steps = found(&run);
    let each: Vec<_> = steps.each.iter().map(|s| (s.thread, s.session, s.n_passes)).collect();
    let of = |thread| each.iter().copied().filter(move |(of, ..)| *of == thread);
    assert!(of(1).eq([(1, None, 2); 4]), "{each:?}");
    assert!(of(2).eq([(2, Some(0), 1); 3]), "{each:?}");
    assert_eq!((steps.n_loops, steps.total_frames), (2, Some(6)));
}

#[test]
fn steps_without_a_number_are_of_the_session_that_is_open() {
    // ms          0         10        20        30
    // session A       |---------|                             in the main thread
    // session B                    |---------|
    // other        |warm| |1||2|    |1||2|                    nothing says where one loop ends and the next begins
    let ms = 1_000_000;
    let mut run = RunBuilder::new()
        .session("A", 5 * ms, Some(16 * ms), vec![])
        .session("B", 18 * ms, Some(28 * ms), vec![])
        .thread("other");
    for at in [4, 10, 14, 22, 26] {
        let computation_ns = Some(ms);
        let step = DiffusionStep { computation_ns, ..DiffusionStep::default() };
        run = run.generation(at * ms, None, Generation::Step(step));
    }
    let sessions: Vec<_> = found(&run.finish(30 * ms)).each.iter().map(|s| s.session).collect();
    assert_eq!(sessions, [None, Some(0), Some(0), Some(1), Some(1)]);
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let largest = DiffusionStep {
        step: Some(u64::MAX),
        block_size: Some(u64::MAX),
        computation_ns: Some(u64::MAX),
        timestep: Some(f64::MAX),
        guidance_scale: Some(f64::MIN),
    };
    let run = RunBuilder::new()
        .generation(u64::MAX, Some(u32::MAX), Generation::Step(largest.clone()))
        .generation(u64::MAX, None, Generation::Step(largest))
        .finish(u64::MAX);
    let found = found(&run);
    assert_eq!(found.total_ns, u64::MAX);
    assert!(found.frames_per_second.unwrap().is_finite());
}

#[test]
fn a_run_without_any_of_it_has_no_answer() {
    let limits = Thresholds::default();
    assert_eq!(diffusion(&RunBuilder::new().finish(0), &limits), None);
    assert_eq!(diffusion(&Run::default(), &limits), None);
    let other = RunBuilder::new().section("work", 0, 9, |_| {}).finish(10);
    assert_eq!(diffusion(&other, &limits), None);
}

#[test]
fn steps_that_are_sections_have_their_time_on_the_gpu() {
    // host     |-0-||-1-||-2-|
    // stream     |----0----|--1--|       9 and 5; the last was not measured
    let span = |start_ns, gpu_ns| marey::GpuSpan {
        thread: 0,
        node: 1,
        start_ns,
        device: 0,
        stream: 0,
        delay_ns: None,
        gpu_ns,
        error_ns: None,
    };
    let run = RunBuilder::new()
        .iteration("denoising_step", 0, 4, |_| {})
        .iteration("denoising_step", 5, 9, |_| {})
        .iteration("denoising_step", 10, 14, |_| {})
        .with(|run| run.gpu_spans = vec![span(0, 9), span(5, 5)])
        .finish(20);
    let found = found(&run);
    let each: Vec<Option<u64>> = found.each.iter().map(|step| step.gpu_ns).collect();
    assert_eq!(each, [Some(9), Some(5), None]);
    // The host is ahead: 9, then 5 where the host took 4, then 4, of which only that is known.
    let paces: Vec<Option<u64>> = found.each.iter().map(StepPoint::pace_ns).collect();
    assert_eq!(paces, [Some(9), Some(5), Some(4)]);
    assert_eq!(found.pace().map(|steady| steady.total_ns), Some(9));
    assert_eq!(found.gpu_warm_up.map(|gpu| gpu.max_ns), Some(9));
    assert_eq!(found.gpu_steady.map(|gpu| (gpu.count, gpu.max_ns)), Some((1, 5)));
}

#[test]
fn steps_that_failed_are_none_and_schedulers_say_the_time_step() {
    // denoising_step |-- 20 --| |-- 20 --| |-- 5, failed --|
    //   scheduler_step    999         749
    let run = RunBuilder::new()
        .iteration("denoising_step", 0, 20 * MS, |s| {
            s.section("scheduler_step", 15 * MS, 18 * MS, |_| {});
        })
        .iteration("denoising_step", 20 * MS, 40 * MS, |s| {
            s.section("scheduler_step", 35 * MS, 38 * MS, |_| {});
        })
        .iteration("denoising_step", 40 * MS, 45 * MS, |_| {})
        .with(|run| {
            let said = |section: usize, timestep: f64| marey::SectionAttributes {
                section,
                session: None,
                attributes: vec![("timestep".to_owned(), marey::Value::Float(timestep))],
            };
            let places = |name: &str| -> Vec<usize> {
                let is_it =
                    |s: &&(usize, &marey::Section)| run.nodes[s.1.node as usize].name == name;
                let all = run.sections.iter().enumerate();
                all.collect::<Vec<_>>().iter().filter(is_it).map(|(at, _)| *at).collect()
            };
            let (schedulers, steps) = (places("scheduler_step"), places("denoising_step"));
            run.section_attributes = vec![said(schedulers[0], 999.0), said(schedulers[1], 749.0)];
            run.sections[steps[2]].is_failed = true;
        })
        .finish(45 * MS);
    let mut run = run;
    let step = run.nodes.iter().position(|node| node.name == "denoising_step").unwrap();
    run.totals[step].errors = 1;
    let found = found(&run);
    let timesteps: Vec<Option<f64>> = found.each.iter().map(|step| step.timestep).collect();
    assert_eq!(timesteps, [Some(999.0), Some(749.0)]);
}
