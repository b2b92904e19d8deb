//! Loops: their turns, and how steady they were.

use super::calls::{median, percentile};
use super::with_histograms_explained;
use crate::document::{Cell, Table};
use crate::model::Report;

/// Percentiles, deviation and warm-up of every loop.
pub(super) fn table(report: &Report) -> Table {
    let table = Table::of_each(
        "loops",
        "Loops, warm-up and steady state",
        &report.iterations,
        &[
            ("name", "Loop", &|l| Cell::name(&l.name)),
            ("count", "Count", &|l| Cell::Count(l.calls.count)),
            ("n_failed", "Failed", &|l| Cell::Count(l.calls.errors)),
            ("first_ns", "First", &|l| Cell::duration(l.calls.first_ns)),
            ("rest_mean_ns", "Mean of rest", &|l| Cell::mean(l.calls.rest_mean_ns)),
            ("mean_ns", "Mean", &|l| Cell::mean(l.calls.mean_ns)),
            ("median_ns", "Median", &|l| median(&l.calls)),
            ("p95_ns", "p95", &|l| percentile(&l.calls, |p| p.p95_ns)),
            ("p99_ns", "p99", &|l| percentile(&l.calls, |p| p.p99_ns)),
            ("max_ns", "Max", &|l| Cell::duration(l.calls.max_ns)),
            ("std_dev_ns", "Std dev", &|l| Cell::mean(l.calls.std_dev_ns)),
            ("per_second", "it/s", &|l| Cell::known(l.per_second, Cell::PerSecond)),
        ],
    );
    with_histograms_explained(table)
}
