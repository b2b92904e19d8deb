//! Figures of calls, as cells.

use marey_analysis::{CallStats, Durations, Percentiles};

use crate::document::Cell;

/// A percentile, or about that.
pub(super) fn percentile(calls: &CallStats, of: fn(Percentiles) -> u64) -> Cell {
    Cell::known(calls.percentiles, |p| {
        Cell::Duration(of(p)).exactly(p.is_exact)
    })
}

/// The middle call, or about that.
pub(super) fn median(calls: &CallStats) -> Cell {
    let is_exact = calls.percentiles.is_none_or(|p| p.is_exact);
    Cell::known(calls.median_ns, |ns| Cell::Mean(ns).exactly(is_exact))
}

/// Columns for [`spread`].
pub(super) const SPREAD: [(&str, &str); 6] = [
    ("count", "Count"),
    ("mean_ns", "Mean"),
    ("p50_ns", "p50"),
    ("p95_ns", "p95"),
    ("p99_ns", "p99"),
    ("max_ns", "Max"),
];

/// How many, and how they are spread.
pub(super) fn spread(found: &Durations) -> [Cell; 6] {
    [
        Cell::Count(found.count),
        Cell::Mean(found.mean_ns),
        Cell::Duration(found.p50_ns),
        Cell::Duration(found.p95_ns),
        Cell::Duration(found.p99_ns),
        Cell::Duration(found.max_ns),
    ]
}
