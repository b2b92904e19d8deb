//! What windows of heavier instruments saw, what they cost, and what came of them.

use marey::{Run, Status, Window};

use crate::intervals::{Interval, length_within, union};
use crate::stats::{mean, sum};
use crate::{Diffusion, StepPoint};

/// Sections in which a window holds up the program: torch's profiler starts and stops on the program's thread.
const OWN_SECTIONS: &str = "marey window ";

/// All windows of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows {
    /// Each, in the order in which they were opened.
    pub each: Vec<WindowUse>,
    /// Time for which starting and stopping them held up the program; `None` when it was not recorded. It is part of the
    /// run's wall time and of whatever sections it lay in, but not of their self time.
    pub own_ns: Option<u64>,
}

/// One window.
///
/// ```text
/// opened    recording             stopped
///   |----------|---------------------|
///      |==0==|    |==1==||==2==|         |==3==|     steps: 0 in the warm-up, 1 and 2 recorded, 3 outside
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct WindowUse {
    /// As it was recorded.
    pub window: Window,
    /// It was open when the process ended, or died.
    pub is_cut_off: bool,
    /// Denoising steps that began in its warm-up: what torch saw of them was thrown away, their times are kept. `None` when
    /// the run has no denoising steps of its own: those that were counted by hand are in no record.
    pub warm_up_steps: Option<u64>,
    /// Denoising steps of which something was recorded; `None` as above.
    pub recorded_steps: Option<u64>,
    /// Their mean duration without the starting and stopping of windows that lay in them; they are slower than others,
    /// because recording costs time. `None` without any.
    pub recorded_mean_ns: Option<f64>,
    /// Mean duration of the steps outside all windows, without the run's warm-up; `None` without any.
    pub outside_mean_ns: Option<f64>,
}

/// Where a step lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    WarmUp,
    Recorded,
}

/// What each window of a run came to; `None` when none was opened.
pub fn windows(run: &Run, diffusion: Option<&Diffusion>) -> Option<Windows> {
    let steps: &[StepPoint] =
        diffusion.and_then(|found| found.steps.as_ref()).map_or(&[], |steps| &steps.each);
    let is_outside =
        |step: &&StepPoint| run.windows.iter().all(|w| place(w, step) == Place::Outside);
    let outside = steps.iter().filter(|step| !step.is_warm_up).filter(is_outside);
    let own = own_time(run);
    let outside_mean_ns = mean_of(outside, &own);
    let each: Vec<WindowUse> = run
        .windows
        .iter()
        .map(|window| WindowUse {
            outside_mean_ns,
            ..WindowUse::new(window, steps, &own, run.status != Status::Running)
        })
        .collect();
    (!each.is_empty()).then(|| Windows { each, own_ns: own_ns(run) })
}

impl WindowUse {
    fn new(window: &Window, steps: &[StepPoint], own: &[Interval], has_ended: bool) -> Self {
        let of = |wanted: Place| steps.iter().filter(move |s| place(window, s) == wanted);
        let count = |wanted| (!steps.is_empty()).then(|| of(wanted).count() as u64);
        Self {
            window: window.clone(),
            is_cut_off: has_ended && window.stopped_ns.is_none(),
            warm_up_steps: count(Place::WarmUp),
            recorded_steps: count(Place::Recorded),
            recorded_mean_ns: mean_of(of(Place::Recorded), own),
            outside_mean_ns: None,
        }
    }
}

fn place(window: &Window, step: &StepPoint) -> Place {
    let start_ns = step.end_ns.saturating_sub(step.duration_ns.unwrap_or(0));
    let stopped_ns = window.stopped_ns.unwrap_or(u64::MAX);
    if step.end_ns <= window.opened_ns || start_ns >= stopped_ns {
        return Place::Outside;
    }
    match window.recording_ns {
        // The window notes the end of its warm-up within the last step of it.
        Some(recording_ns) if start_ns >= recording_ns || step.end_ns > stopped_ns => {
            Place::Recorded
        }
        _ => Place::WarmUp,
    }
}

/// Mean duration of steps, without what of `own` lies in them.
fn mean_of<'a>(steps: impl Iterator<Item = &'a StepPoint>, own: &[Interval]) -> Option<f64> {
    let without =
        |step: &StepPoint| Some(step.duration_ns?.saturating_sub(length_within(step.time()?, own)));
    let durations: Vec<u64> = steps.filter_map(without).collect();
    mean(&durations)
}

/// When windows were started and stopped.
fn own_time(run: &Run) -> Vec<Interval> {
    let is_own = |node: u32| {
        let node = run.nodes.get(node as usize);
        node.is_some_and(|node| node.name.starts_with(OWN_SECTIONS))
    };
    let own = run.sections.iter().filter(|section| is_own(section.node));
    union(own.map(Interval::of).collect())
}

fn own_ns(run: &Run) -> Option<u64> {
    let own = run.nodes.iter().zip(&run.totals);
    let sums: Vec<u64> = own
        .filter(|(node, totals)| node.name.starts_with(OWN_SECTIONS) && totals.count > 0)
        .map(|(_, totals)| totals.sum_ns)
        .collect();
    (!sums.is_empty()).then(|| sum(sums.into_iter()))
}

#[cfg(test)]
mod tests {
    use marey::{DiffusionStep, Generation};
    use marey_testing::RunBuilder;

    use super::*;
    use crate::{Thresholds, diffusion};

    /// ```text
    /// window       10 ··· 20 ═══════════ 40
    /// steps      |0 10|10 20|20 30|30 40|40 50|50 60|
    ///            outside  warm-up  recorded   outside
    /// ```
    fn run(stopped_ns: Option<u64>) -> Run {
        let mut builder = RunBuilder::new();
        for (step, took) in (0..).zip([10, 10, 10, 10, 10, 10]) {
            let report = DiffusionStep {
                step: Some(step),
                computation_ns: Some(took),
                ..DiffusionStep::default()
            };
            let end_ns = (step + 1) * 10;
            builder = builder.generation(end_ns, None, Generation::Step(report));
        }
        builder
            .section("marey window start", 9, 10, |_| {})
            .section("marey window stop", 40, 43, |_| {})
            .with(|run| {
                run.windows.push(Window {
                    name: "flux".into(),
                    opened_ns: 10,
                    recording_ns: Some(20),
                    stopped_ns,
                    ..Window::default()
                });
            })
            .finish(70)
    }

    fn found(run: &Run) -> Windows {
        let diffusion = diffusion(run, &Thresholds::of(run));
        windows(run, diffusion.as_ref()).expect("there is one")
    }

    #[test]
    fn steps_are_told_apart_by_where_in_the_window_they_lie() {
        let found = found(&run(Some(40)));
        let window = &found.each[0];
        let steps = (window.warm_up_steps, window.recorded_steps);
        assert_eq!(steps, (Some(1), Some(2)));
        assert_eq!(window.recorded_mean_ns, Some(10.0));
        assert!(!window.is_cut_off);
    }

    #[test]
    fn without_denoising_steps_in_the_run_nobody_knows_how_many_lay_in_a_window() {
        let run = RunBuilder::new()
            .with(|run| {
                run.windows.push(Window {
                    recording_ns: Some(20),
                    stopped_ns: Some(40),
                    ..Window::default()
                });
            })
            .finish(70);
        let window = &found(&run).each[0];
        let steps = (window.warm_up_steps, window.recorded_steps);
        assert_eq!(steps, (None, None));
    }

    #[test]
    fn a_window_outside_all_denoising_steps_has_none_of_them() {
        let mut run = run(Some(69));
        (run.windows[0].opened_ns, run.windows[0].recording_ns) = (60, Some(65));
        let window = &found(&run).each[0];
        let steps = (window.warm_up_steps, window.recorded_steps);
        assert_eq!(steps, (Some(0), Some(0)));
    }

    /// ```text
    /// step 2          |20        30|
    /// window stop        |22 28|          the step itself took 4
    /// ```
    #[test]
    fn starting_and_stopping_within_a_step_is_not_its_time() {
        let mut run = run(Some(40));
        let stop = run.sections.iter_mut().find(|s| s.start_ns == 40);
        let stop = stop.expect("drawn");
        (stop.start_ns, stop.end_ns) = (22, 28);
        assert_eq!(found(&run).each[0].recorded_mean_ns, Some(7.0));
    }

    #[test]
    fn the_time_on_the_programs_thread_is_that_of_starting_and_stopping() {
        assert_eq!(found(&run(Some(40))).own_ns, Some(4));
    }

    #[test]
    fn a_window_that_never_stopped_was_cut_off_unless_the_program_runs() {
        let mut run = run(None);
        assert!(found(&run).each[0].is_cut_off);
        assert_eq!(found(&run).each[0].recorded_steps, Some(4));
        run.status = Status::Running;
        assert!(!found(&run).each[0].is_cut_off);
    }
}
