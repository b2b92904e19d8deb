//! Allocations and releases that the program reported.

use marey_analysis::Allocated;

use crate::document::{Cell, Table};
use crate::model::Report;
use crate::quantity::{bytes, time_s};

/// Sums by allocator and context.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("allocator", "Allocator"),
        ("context", "Context"),
        ("n_allocations", "Allocations"),
        ("allocated_bytes", "Allocated"),
        ("n_releases", "Releases"),
        ("released_bytes", "Released"),
        ("held_bytes", "Held"),
    ];
    let mut table = Table::new("memory_events", "Memory events", &columns);
    let Some(found) = &report.activity.allocations else {
        return table;
    };
    if found.uses.len() > 1 {
        table.row(row(Cell::text("(all)"), Cell::Absent, &found.all));
    }
    for one in &found.uses {
        let name = |name: &Option<String>| Cell::known(name.as_deref(), Cell::name);
        table.row(row(name(&one.allocator), name(&one.context), &one.sums));
    }
    table.notes.push(format!(
        "As the program reported them. Peak held: {} at {} s.",
        bytes(found.peak_bytes),
        time_s(found.peak_at_ns)
    ));
    table
}

fn row(allocator: Cell, context: Cell, sums: &Allocated) -> Vec<Cell> {
    vec![
        allocator,
        context,
        Cell::Count(sums.n_allocations),
        Cell::Bytes(sums.allocated_bytes),
        Cell::Count(sums.n_releases),
        Cell::Bytes(sums.released_bytes),
        Cell::Growth(sums.held_bytes),
    ]
}
