//! What counters read.

use crate::document::{Cell, Table};
use crate::model::Report;

/// Counters that people are shown.
const MAX_COUNTERS: usize = 40;

/// Each counter.
pub(super) fn table(report: &Report) -> Table {
    Table::of_each(
        "counters",
        "Counters",
        &report.counters,
        &[
            ("name", "Counter", &|c| Cell::name(&c.name)),
            ("count", "Count", &|c| Cell::Count(c.count)),
            ("min", "Min", &|c| Cell::Number(c.min)),
            ("mean", "Mean", &|c| Cell::Number(c.mean)),
            ("max", "Max", &|c| Cell::Number(c.max)),
            ("last", "Last", &|c| Cell::Number(c.last)),
        ],
    )
    .limited(MAX_COUNTERS)
}
