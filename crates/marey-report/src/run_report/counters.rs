//! What counters read.

use crate::document::{Cell, Table};
use crate::model::Report;

/// Counters that people are shown.
const MAX_COUNTERS: usize = 40;

/// Each counter.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("name", "Counter"),
        ("count", "Count"),
        ("min", "Min"),
        ("mean", "Mean"),
        ("max", "Max"),
        ("last", "Last"),
    ];
    let mut table = Table::new("counters", "Counters", &columns).limited(MAX_COUNTERS);
    for counter in &report.counters {
        table.row(vec![
            Cell::name(&counter.name),
            Cell::Count(counter.count),
            Cell::Number(counter.min),
            Cell::Number(counter.mean),
            Cell::Number(counter.max),
            Cell::Number(counter.last),
        ]);
    }
    table
}
