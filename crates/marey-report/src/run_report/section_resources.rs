//! What outer sections used.

use std::cmp::Reverse;

use marey_analysis::UsedResources;

use super::path;
use crate::document::{Cell, Table};
use crate::model::Report;

/// Most processor time first.
pub(super) fn table(report: &Report) -> Table {
    let mut rows: Vec<&UsedResources> = report.used_resources.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.process.map(|used| used.cpu_ns)), row.node));
    let are_shared = rows.iter().any(|row| row.process.is_none());
    let are_whole = rows.iter().all(|row| row.is_whole());
    let table = Table::of_each(
        "section_resources",
        "Resources of outer sections",
        rows,
        &[
            ("section", "Section", &|r| path(report, r.node)),
            ("n_calls", "Calls", &|r| Cell::Count(r.n_calls)),
            ("n_measured", "Measured", &|r| Cell::Count(r.n_measured)),
            ("cpu_ns", "CPU", &|r| Cell::duration(r.process.map(|p| p.cpu_ns))),
            ("thread_cpu_ns", "Own thread", &|r| Cell::duration(r.thread.map(|t| t.cpu_ns))),
            ("read_bytes", "Read", &|r| Cell::bytes(r.process.and_then(|p| p.read_bytes))),
            ("written_bytes", "Written", &|r| Cell::bytes(r.process.and_then(|p| p.written_bytes))),
            ("growth_bytes", "Memory grew", &|r| Cell::known(r.growth_bytes, Cell::Growth)),
        ],
    );
    let mut table = table.noted(
        "Of the whole process while the section was open, read at both ends of outer sections.",
    );
    if are_shared {
        table = table.noted("Of calls that were open at the same time it cannot be told apart.");
    }
    if !are_whole {
        table = table.noted("Calls that were not measured were beyond the budget of readings, and nothing is estimated for them.");
    }
    table
}
