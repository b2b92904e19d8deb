//! Figures of calls in seconds: `timing_stats`, `iteration_stats`, and part of each section.

use marey_analysis::{CallStats, Iterations, NameRow};
use serde::Serialize;

use super::figures::MAX_LISTED;
use super::object::{Fields, object};
use super::{float_seconds, seconds};

/// Completed calls, durations in seconds.
pub(super) fn calls(calls: &CallStats) -> impl Fields + use<> {
    let percentiles = calls.percentiles;
    object! {
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

/// One name in `timing_stats`.
pub(super) fn timing_stats(row: &NameRow) -> impl Serialize + use<> {
    object! {
        ..calls(&row.calls),
        self: row.known_self_ns().map(seconds),
        share_of_wall: row.share_of_wall_ratio,
    }
}

/// One loop.
pub(super) fn iteration_stats(found: &Iterations) -> impl Serialize {
    let is_whole = found.series.len() as u64 == found.calls.count;
    let is_short = found.series.len() <= MAX_LISTED;
    let durations = || found.series.iter().map(|turn| seconds(turn.duration_ns));
    object! {
        name: &found.name,
        ..calls(&found.calls),
        iterations_per_second: found.per_second,
        durations: (is_whole && is_short).then(|| durations().collect::<Vec<_>>()),
    }
}
