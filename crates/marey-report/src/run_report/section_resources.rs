//! What outer sections used.

use std::cmp::Reverse;

use marey_analysis::UsedResources;

use super::path;
use crate::document::{Cell, Table};
use crate::model::Report;

/// Most processor time first.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("section", "Section"),
        ("n_calls", "Calls"),
        ("n_measured", "Measured"),
        ("cpu_ns", "CPU"),
        ("thread_cpu_ns", "Own thread"),
        ("read_bytes", "Read"),
        ("written_bytes", "Written"),
        ("growth_bytes", "Memory grew"),
    ];
    let mut table = Table::new("section_resources", "Resources of outer sections", &columns);
    let mut rows: Vec<&UsedResources> = report.used_resources.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.process.map(|used| used.cpu_ns)), row.node));
    for row in &rows {
        let process = row.process;
        table.row(vec![
            path(report, row.node),
            Cell::Count(row.n_calls),
            Cell::Count(row.n_measured),
            Cell::known(process.map(|used| used.cpu_ns), Cell::Duration),
            Cell::known(row.thread.map(|used| used.cpu_ns), Cell::Duration),
            Cell::known(process.and_then(|used| used.read_bytes), Cell::Bytes),
            Cell::known(process.and_then(|used| used.written_bytes), Cell::Bytes),
            Cell::known(row.growth_bytes, Cell::Growth),
        ]);
    }
    let mut note = |text: &str| table.notes.push(text.into());
    note("Of the whole process while the section was open, read at both ends of outer sections.");
    if rows.iter().any(|row| row.process.is_none()) {
        note("Of calls that were open at the same time it cannot be told apart.");
    }
    if rows.iter().any(|row| !row.is_whole()) {
        note(
            "Calls that were not measured were beyond the budget of readings, and nothing is estimated for them.",
        );
    }
    table
}
