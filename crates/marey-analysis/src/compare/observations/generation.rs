//! How fast frames, blocks and steps came, and what caches did.

use super::{Asked, Observations, Value};
use crate::compare::bootstrap::Statistic;
use crate::compare::measure::{MeasureKind, Subject};
use crate::questions::diffusion::{StepSource, Steps};
use crate::stats::float;

pub(super) fn observe(asked: &Asked<'_>, found: &mut Observations) {
    observe_caches(asked, found);
    let Some(diffusion) = &asked.diffusion else {
        return;
    };
    for rate in &diffusion.rates {
        let of = Subject::Rate(rate.meaning.clone());
        found.add(MeasureKind::FramesPerSecond, of, Some(rate.per_second));
    }
    let mut add = |kind, figure| found.add(kind, Subject::Run, figure);
    if let Some(blocks) = &diffusion.blocks {
        add(MeasureKind::BlocksPerSecond, blocks.per_second);
        add(MeasureKind::TimeToFirstBlock, blocks.time_to_first_ns.map(float));
    }
    if let Some(delivery) = &diffusion.delivery {
        add(MeasureKind::TimeToFirstFrames, Some(float(delivery.time_to_first_ns)));
        add(MeasureKind::Stalled, Some(float(delivery.stalled_ns)));
    }
    let cached = diffusion.caching.as_ref().map(|c| float(c.n_cached));
    add(MeasureKind::CachedSteps, cached);
    if let Some(steps) = &diffusion.steps {
        observe_steps(asked, steps, found);
    }
}

/// Steps that the program reported; those that are turns or calls are compared as such.
fn observe_steps(asked: &Asked<'_>, steps: &Steps, found: &mut Observations) {
    if steps.source != StepSource::Reported {
        return;
    }
    let n_steps = float(steps.each.len() as u64);
    found.add(MeasureKind::Steps, Subject::Run, Some(n_steps));
    let durations = |is_warm_up: bool| -> Vec<f64> {
        let wanted = steps.each.iter().filter(|s| s.is_warm_up == is_warm_up);
        wanted.filter_map(|s| s.duration_ns.map(float)).collect()
    };
    let value = |figure, calls, of_wall_ns: f64| Value {
        figure,
        calls,
        share: (of_wall_ns / float(asked.run.wall_ns.max(1))).min(1.0),
    };
    let steady = durations(false);
    if let Some(median) = Statistic::Median.of(&mut steady.clone()) {
        found.add_value(
            MeasureKind::Step,
            Subject::Run,
            value(median, steady, float(steps.total_ns)),
        );
    }
    // Of several pipelines the longest first step.
    if let Some(first) = durations(true).into_iter().reduce(f64::max) {
        found.add_value(MeasureKind::FirstStep, Subject::Run, value(first, vec![], first));
    }
}

fn observe_caches(asked: &Asked<'_>, found: &mut Observations) {
    let caches = crate::caches(asked.run);
    for cache in caches.iter().flat_map(|caches| &caches.each) {
        let of = || Subject::Cache(cache.name.clone());
        found.add(MeasureKind::CacheHitRatio, of(), cache.hit_ratio);
        found.add(MeasureKind::CacheHeld, of(), cache.peak_held_bytes.map(float));
    }
}
