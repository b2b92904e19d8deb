//! How fast it was: frames, blocks and steps a second, as the field counts them.

use marey_analysis::StepPoint;

use super::headline::{Work, frame_rate};
use crate::first_screen::brief::{in_seconds, rounded, seconds};
use crate::json::object::{Json, object};
use crate::model::Report;
use crate::quantity::{counted, float, per_second, time, time_ns};

/// A rate with the first step differs from one without by more than this where it is shown, too.
const DIFFERS: f64 = 0.03;

/// How fast it was; `None` where that is not known. Of a run that failed there is no rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Speed {
    /// Requests in a second of the run.
    pub(super) requests_hz: Option<f64>,
    /// Steps in a second of the run, over all requests.
    pub(super) all_steps_hz: Option<f64>,
    /// Frames in a second of the wall time of the generations that made them.
    pub(super) frames_hz: Option<f64>,
    /// Blocks in a second of their time.
    pub(super) blocks_hz: Option<f64>,
    /// From the start of the generation to the end of its first block.
    pub(super) first_block_ns: Option<u64>,
    /// A step.
    pub(super) steps: Option<StepSpeed>,
}

/// How long a step takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepSpeed {
    /// Median of the steps without the first.
    pub(super) median_ns: f64,
    /// How many there were, and how long all of them took.
    pub(super) n: u64,
    /// How long all of them took.
    pub(super) total_ns: u64,
    /// Medians of the steps that were computed and of those that a cache answered.
    pub(super) computed_and_cached_ns: Option<[f64; 2]>,
}

impl Speed {
    pub(super) fn new(report: &Report, work: &Work) -> Self {
        let found = report.activity.diffusion.as_ref();
        let steps = found.and_then(|found| found.steps.as_ref());
        if report.requests.is_some() {
            let in_run = |n: u64| 1e9 * float(n) / float(report.run.wall_ns.max(1));
            return Self {
                requests_hz: Some(in_run(work.generations)),
                all_steps_hz: work.steps.filter(|n| *n > 0).map(in_run),
                ..Self::default()
            };
        }
        let caching = found.and_then(|found| found.caching.as_ref());
        let apart = caching.and_then(|found| {
            let (computed, cached) = (found.computed.as_ref()?, found.cached.as_ref()?);
            Some([float(computed.p50_ns), float(cached.p50_ns)])
        });
        let steady = steps.and_then(|steps| Some((steps, steps.pace()?)));
        let steady = steady.filter(|(_, steady)| steady.p50_ns > 0);
        let blocks = found.and_then(|found| found.blocks.as_ref());
        Self {
            frames_hz: found.and_then(frame_rate).map(|rate| rate.per_second),
            blocks_hz: blocks.and_then(|blocks| blocks.per_second),
            first_block_ns: blocks.and_then(|blocks| blocks.time_to_first_ns),
            steps: steady.map(|(steps, steady)| StepSpeed {
                median_ns: float(steady.p50_ns),
                n: steps.all.as_ref().map_or(0, |all| all.count),
                total_ns: steps.each.iter().filter_map(StepPoint::pace_ns).sum(),
                computed_and_cached_ns: apart,
            }),
            ..Self::default()
        }
    }

    /// In words, the most telling first.
    pub(super) fn text(&self) -> Vec<String> {
        let mut said = Vec::new();
        let mut say = |value: Option<f64>, unit: &str| {
            said.extend(value.map(|value| format!("{} {unit}", per_second(value))));
        };
        say(self.requests_hz, "requests/s");
        say(self.all_steps_hz, "steps/s over all requests");
        say(self.frames_hz, "FPS");
        let is_alone = self.frames_hz.is_none() && self.blocks_hz.is_none();
        let is_cached = self.steps.as_ref().is_some_and(|s| s.computed_and_cached_ns.is_some());
        if !is_cached {
            say(self.blocks_hz, "blocks/s");
        }
        said.extend(self.first_block_ns.map(|ns| format!("first block after {}", time_ns(ns))));
        let Some(steps) = &self.steps else {
            return said;
        };
        if let Some([computed, cached]) = steps.computed_and_cached_ns {
            said.push(format!("step {} computed, {} cached", time(computed), time(cached)));
            return said;
        }
        let steady = 1e9 / steps.median_ns;
        if !is_alone {
            said.push(format!("denoising {} it/s", per_second(steady)));
            return said;
        }
        said.push(format!("steady step {} ({} it/s)", time(steps.median_ns), per_second(steady)));
        let all = 1e9 * float(steps.n) / float(steps.total_ns.max(1));
        if (all / steady - 1.0).abs() > DIFFERS {
            let n = counted(steps.n, "step", "steps");
            said.push(format!("{n} in {} ({} it/s)", time_ns(steps.total_ns), per_second(all)));
        }
        said
    }

    /// For programs.
    pub(super) fn facts(&self) -> impl Json + use<> {
        let steps = self.steps.as_ref();
        let apart = steps.and_then(|steps| steps.computed_and_cached_ns);
        let median_ns = steps.filter(|_| apart.is_none()).map(|steps| steps.median_ns);
        object! {
            requests_hz?: self.requests_hz.map(rounded),
            frames_hz?: self.frames_hz.map(rounded),
            blocks_hz?: self.blocks_hz.map(rounded),
            first_block_s?: self.first_block_ns.map(seconds),
            steps_hz?: self.all_steps_hz.or(median_ns.map(|ns| 1e9 / ns)).map(rounded),
            step_median_s?: median_ns.map(in_seconds),
            computed_step_median_s?: apart.map(|[computed, _]| in_seconds(computed)),
            cached_step_median_s?: apart.map(|[_, cached]| in_seconds(cached)),
        }
    }
}
