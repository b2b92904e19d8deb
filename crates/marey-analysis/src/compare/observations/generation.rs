//! How fast frames, blocks and steps came, and what caches did.

use super::{Asked, Observations, Value};
use crate::compare::bootstrap::Statistic;
use crate::compare::{MeasureKind, Subject};
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
    let blocks = diffusion.blocks.as_ref();
    let delivery = diffusion.delivery.as_ref();
    for (kind, ns) in [
        (MeasureKind::TimeToFirstBlock, blocks.and_then(|blocks| blocks.time_to_first_ns)),
        (MeasureKind::TimeToFirstFrames, delivery.map(|delivery| delivery.time_to_first_ns)),
        (MeasureKind::Stalled, delivery.map(|delivery| delivery.stalled_ns)),
    ] {
        if let Some(ns) = ns.map(float) {
            found.add_value(kind, Subject::Run, value_of(asked, ns, vec![], ns));
        }
    }
    let mut add = |kind, figure| found.add(kind, Subject::Run, figure);
    add(MeasureKind::BlocksPerSecond, blocks.and_then(|blocks| blocks.loops_per_second));
    add(MeasureKind::CachedSteps, diffusion.caching.as_ref().map(|c| float(c.n_cached)));
    if let Some(steps) = &diffusion.steps {
        observe_steps(asked, steps, found);
    }
}

/// Steps that the program reported; those that are iterations or calls are compared as such.
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
    let value = |figure, calls, all_ns| value_of(asked, figure, calls, all_ns);
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

/// A time, of which all together take so much of the run.
fn value_of(asked: &Asked<'_>, figure: f64, calls: Vec<f64>, all_ns: f64) -> Value {
    Value { figure, calls, share: (all_ns / float(asked.run.wall_ns.max(1))).min(1.0) }
}

fn observe_caches(asked: &Asked<'_>, found: &mut Observations) {
    let caches = crate::caches(asked.run);
    for cache in caches.iter().flat_map(|caches| &caches.each) {
        let of = || Subject::Cache(cache.name.clone());
        found.add(MeasureKind::CacheHitRatio, of(), cache.hit_ratio);
        found.add(MeasureKind::CacheHeld, of(), cache.peak_held_bytes.map(float));
    }
}
