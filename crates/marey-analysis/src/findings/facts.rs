//! What rules look at.

use marey::Run;

use super::Thresholds;
use crate::intervals::{Interval, union};
use crate::stats::ratio;
use crate::{
    Account, Caches, Diffusion, Iterations, Memory, Sections, StepPoint, Streaming, Telemetry,
    Windows,
};

/// A run with the answers to the questions about it, which rules share.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The run, or the run of a session.
    pub run: &'a Run,
    /// Where the time went.
    pub sections: &'a Sections,
    /// What held the wall time up; `None` where that is not known.
    pub account: Option<&'a Account>,
    /// Each loop.
    pub iterations: &'a [Iterations],
    /// Memory readings.
    pub memory: Option<&'a Memory>,
    /// What samplers read.
    pub telemetry: &'a Telemetry,
    /// Delivered frames.
    pub streaming: Option<&'a Streaming>,
    /// Denoising steps, blocks, models.
    pub diffusion: Option<&'a Diffusion>,
    /// What caches did.
    pub caches: Option<&'a Caches>,
    /// Windows of heavier instruments.
    pub windows: Option<&'a Windows>,
    /// Limits of the rules.
    pub thresholds: &'a Thresholds,
}

/// Longest time of which a driver's reading of utilisation is.
const UTILIZATION_NS: u64 = 1_000_000_000;
/// A shorter pause between steps changes such a reading by less than a fifth.
const SHORT_PAUSE_NS: u64 = UTILIZATION_NS / 5;

impl Facts<'_> {
    /// Each denoising step whose duration is known, in order of time; `None` when there is none.
    pub(super) fn steps(&self) -> Option<Vec<Interval>> {
        self.steps_that(|_| true)
    }

    fn steps_that(&self, is_wanted: impl Fn(&StepPoint) -> bool) -> Option<Vec<Interval>> {
        let each = &self.diffusion?.steps.as_ref()?.each;
        let wanted = each.iter().filter(|step| is_wanted(step));
        let mut times: Vec<Interval> = wanted.filter_map(StepPoint::time).collect();
        times.sort_unstable();
        (!times.is_empty()).then_some(times)
    }

    /// Time in denoising steps, each moment counted once; absent as [`Self::steps`].
    pub(super) fn step_time(&self) -> Option<Vec<Interval>> {
        self.steps().map(union)
    }

    /// The same without the warm-up, which compiles and loads; `None` also when there is nothing else.
    pub(super) fn steady_step_time(&self) -> Option<Vec<Interval>> {
        self.steps_that(|step| !step.is_warm_up).map(union)
    }

    /// What readings of a GPU's utilisation say something about: drivers tell it of up to the second before, and one second is too short
    /// for a mean.
    ///
    /// ```text
    /// steps        |-1-||-2-||-3-||-4-|                |-1-|
    /// s            0    1    2    3   4
    /// read in           |-------------|                 none: what was there before is in its readings
    /// ```
    pub(super) fn utilization_time(times: &[Interval]) -> Vec<Interval> {
        let mut stretches: Vec<Interval> = Vec::new();
        for time in times {
            match stretches.last_mut() {
                Some(last) if time.start_ns.saturating_sub(last.end_ns) < SHORT_PAUSE_NS => {
                    last.end_ns = last.end_ns.max(time.end_ns);
                }
                _ => stretches.push(*time),
            }
        }
        stretches.retain(|stretch| stretch.length_ns() >= 2 * UTILIZATION_NS);
        for stretch in &mut stretches {
            stretch.start_ns += UTILIZATION_NS;
        }
        stretches
    }

    /// Steps in which one of these moments lies, in order of time; empty when none is known.
    pub(super) fn steps_around(&self, moments: &[u64]) -> Vec<Interval> {
        let mut moments = moments.to_vec();
        moments.sort_unstable();
        let has_moment = |step: &Interval| {
            let first = moments.partition_point(|at_ns| *at_ns < step.start_ns);
            moments.get(first).is_some_and(|at_ns| *at_ns <= step.end_ns)
        };
        let steps = self.steps().unwrap_or_default();
        steps.into_iter().filter(has_moment).collect()
    }

    /// `ns` as a share of the wall time, 0 to 1; 0 of a run that took no time.
    pub(super) fn share_of_wall(&self, ns: u64) -> f64 {
        let wall_ns = self.run.wall_ns;
        ratio(ns.min(wall_ns).into(), wall_ns.max(1).into())
    }
}
