//! Loops: their turns, and how steady they were.

use super::calls::{median, percentile};
use super::explain_histograms;
use crate::document::{Cell, Table};
use crate::model::Report;

/// Percentiles, deviation and warm-up of every loop.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("name", "Loop"),
        ("count", "Count"),
        ("n_failed", "Failed"),
        ("first_ns", "First"),
        ("rest_mean_ns", "Mean of rest"),
        ("mean_ns", "Mean"),
        ("median_ns", "Median"),
        ("p95_ns", "p95"),
        ("p99_ns", "p99"),
        ("max_ns", "Max"),
        ("std_dev_ns", "Std dev"),
        ("per_second", "it/s"),
    ];
    let mut table = Table::new("loops", "Loops, warm-up and steady state", &columns);
    for found in &report.iterations {
        let calls = &found.calls;
        table.row(vec![
            Cell::name(&found.name),
            Cell::Count(calls.count),
            Cell::Count(calls.errors),
            Cell::known(calls.first_ns, Cell::Duration),
            Cell::known(calls.rest_mean_ns, Cell::Mean),
            Cell::known(calls.mean_ns, Cell::Mean),
            median(calls),
            percentile(calls, |p| p.p95_ns),
            percentile(calls, |p| p.p99_ns),
            Cell::known(calls.max_ns, Cell::Duration),
            Cell::known(calls.std_dev_ns, Cell::Mean),
            Cell::known(found.per_second, Cell::PerSecond),
        ]);
    }
    explain_histograms(&mut table);
    table
}
