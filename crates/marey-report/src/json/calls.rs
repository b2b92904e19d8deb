//! Figures of calls in seconds: `timing_stats`, `iteration_stats`, and part of each section.

use marey_analysis::{CallStats, Iterations, NameRow};
use serde::Serialize;

use super::listed::MAX_LISTED;
use super::{float_seconds, seconds};

/// Completed calls, durations in seconds.
#[derive(Serialize)]
pub(super) struct CallsObject {
    count: u64,
    total: f64,
    mean: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    last: Option<f64>,
    median: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    percentiles_are_exact: Option<bool>,
    std_dev: Option<f64>,
    first: Option<f64>,
    rest_mean: Option<f64>,
    errors: u64,
}

/// One name in `timing_stats`.
#[derive(Serialize)]
pub(super) struct TimingStats {
    #[serde(flatten)]
    calls: CallsObject,
    #[serde(rename = "self")]
    own: Option<f64>,
    share_of_wall: Option<f64>,
}

/// One loop.
#[derive(Serialize)]
pub(super) struct IterationStats {
    name: String,
    #[serde(flatten)]
    calls: CallsObject,
    iterations_per_second: Option<f64>,
    durations: Option<Vec<f64>>,
}

impl CallsObject {
    pub(super) fn new(calls: &CallStats) -> Self {
        let percentiles = calls.percentiles;
        Self {
            count: calls.count,
            total: seconds(calls.total_ns),
            mean: calls.mean_ns.map(float_seconds),
            min: calls.min_ns.map(seconds),
            max: calls.max_ns.map(seconds),
            last: calls.last_ns.map(seconds),
            median: calls.median_ns.map(float_seconds),
            p50: percentiles.map(|p| seconds(p.p50_ns)),
            p95: percentiles.map(|p| seconds(p.p95_ns)),
            p99: percentiles.map(|p| seconds(p.p99_ns)),
            percentiles_are_exact: percentiles.map(|p| p.is_exact),
            std_dev: calls.std_dev_ns.map(float_seconds),
            first: calls.first_ns.map(seconds),
            rest_mean: calls.rest_mean_ns.map(float_seconds),
            errors: calls.errors,
        }
    }
}

impl TimingStats {
    pub(super) fn new(row: &NameRow) -> Self {
        Self {
            calls: CallsObject::new(&row.calls),
            own: row.known_self_ns().map(seconds),
            share_of_wall: row.share_of_wall_ratio,
        }
    }
}

impl IterationStats {
    pub(super) fn new(found: &Iterations) -> Self {
        let is_whole = found.series.len() as u64 == found.calls.count;
        let is_short = found.series.len() <= MAX_LISTED;
        Self {
            name: found.name.clone(),
            calls: CallsObject::new(&found.calls),
            iterations_per_second: found.per_second,
            durations: (is_whole && is_short).then(|| {
                let durations = found.series.iter().map(|turn| turn.duration_ns);
                durations.map(seconds).collect()
            }),
        }
    }
}
