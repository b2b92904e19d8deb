//! How fast it was: frames, blocks and steps a second, as the field counts them.

use marey_analysis::{StepPoint, Steps};

use super::headline::{Work, frame_rate};
use crate::first_screen::Labelled;
use crate::first_screen::brief::{in_seconds, rounded, seconds};
use crate::json::object::{Json, object};
use crate::model::Report;
use crate::quantity::{counted, float, per_second, time, time_ns};

/// A rate with the first step differs from one without by more than this where it is shown, too.
const DIFFERS: f64 = 0.03;

/// The most telling first, with the same for programs. Of a run that failed there is no rate.
pub(super) fn speed(report: &Report, work: &Work) -> (Labelled, impl Json + use<>) {
    let is_concurrent = report.requests.is_some();
    let in_run = |n: u64| 1e9 * float(n) / float(report.run.wall_ns.max(1));
    let requests_hz = is_concurrent.then(|| in_run(work.generations));
    let all_steps_hz = work.steps.filter(|n| is_concurrent && *n > 0).map(in_run);
    let found = report.activity.diffusion.as_ref().filter(|_| !is_concurrent);
    let frames_hz = found.and_then(frame_rate).map(|rate| rate.per_second);
    let blocks = found.and_then(|found| found.blocks.as_ref());
    let blocks_hz = blocks.and_then(|blocks| blocks.loops_per_second);
    let first_block_ns = blocks.and_then(|blocks| blocks.time_to_first_ns);
    let steps = found.and_then(|found| found.steps.as_ref());
    // Without the first step.
    let median_ns = steps.and_then(Steps::pace).map(|steady| steady.p50_ns);
    let median_ns = median_ns.filter(|ns| *ns > 0).map(float);
    // Medians of the steps that were computed and of those that a cache answered.
    let apart = median_ns.and(found).and_then(|found| {
        let caching = found.caching.as_ref()?;
        Some([caching.computed.as_ref()?, caching.cached.as_ref()?].map(|of| float(of.p50_ns)))
    });
    let mut said = Vec::new();
    let mut say = |value: Option<f64>, unit: &str| {
        said.extend(value.map(|value| format!("{} {unit}", per_second(value))));
    };
    say(requests_hz, "requests/s");
    say(all_steps_hz, "steps/s over all requests");
    say(frames_hz, "FPS");
    say(blocks_hz.filter(|_| apart.is_none()), "blocks/s");
    said.extend(first_block_ns.map(|ns| format!("first block after {}", time_ns(ns))));
    if let Some([computed, cached]) = apart {
        said.push(format!("step {} computed, {} cached", time(computed), time(cached)));
    }
    let median_ns = median_ns.filter(|_| apart.is_none());
    if let (Some(steps), Some(median_ns)) = (steps, median_ns) {
        let is_alone = frames_hz.is_none() && blocks_hz.is_none();
        said.extend(pace(steps, median_ns, is_alone));
    }
    let facts = object! {
        requests_hz?: requests_hz.map(rounded),
        frames_hz?: frames_hz.map(rounded),
        blocks_hz?: blocks_hz.map(rounded),
        first_block_s?: first_block_ns.map(seconds),
        steps_hz?: all_steps_hz.or(median_ns.map(|ns| 1e9 / ns)).map(rounded),
        step_median_s?: median_ns.map(in_seconds),
        computed_step_median_s?: apart.map(|[computed, _]| in_seconds(computed)),
        cached_step_median_s?: apart.map(|[_, cached]| in_seconds(cached)),
    };
    (Labelled::new("Speed", said), facts)
}

/// `steady step 41.0 ms (24.4 it/s)`, and all steps where the first one makes a difference; of one rate beside others only that.
fn pace(steps: &Steps, median_ns: f64, is_alone: bool) -> Vec<String> {
    let steady = 1e9 / median_ns;
    if !is_alone {
        return vec![format!("denoising {} it/s", per_second(steady))];
    }
    let mut said = vec![format!("steady step {} ({} it/s)", time(median_ns), per_second(steady))];
    let n = steps.all.as_ref().map_or(0, |all| all.count);
    let total_ns: u64 = steps.each.iter().filter_map(StepPoint::pace_ns).sum();
    let all = 1e9 * float(n) / float(total_ns.max(1));
    if (all / steady - 1.0).abs() > DIFFERS {
        let n = counted(n, "step", "steps");
        said.push(format!("{n} in {} ({} it/s)", time_ns(total_ns), per_second(all)));
    }
    said
}
