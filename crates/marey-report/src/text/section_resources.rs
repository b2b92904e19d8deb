//! What outer sections used.

use std::cmp::Reverse;

use marey_analysis::{Used, UsedResources};

use super::columns::{Columns, Last};
use super::sections::shown_path;
use crate::model::Report;
use crate::quantity::{bytes, duration_ns, growth, known};

const MAX_ROWS: usize = 20;
const PATH_WIDTH: usize = 60;
const HEADERS: [&str; 7] = [
    "Section",
    "Calls",
    "CPU",
    "Own thread",
    "Read",
    "Written",
    "Memory grew",
];

/// `100 of 4000`; `20` when all calls were read.
pub(crate) fn measured_calls(row: &UsedResources) -> String {
    if row.is_whole() {
        row.n_calls.to_string()
    } else {
        format!("{} of {}", row.n_measured, row.n_calls)
    }
}

/// Most processor time first; `None` when no section was read.
pub(super) fn table(report: &Report) -> Option<String> {
    let mut rows: Vec<&UsedResources> = report.used_resources.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.process.map(|used| used.cpu_ns)), row.node));
    let mut table = Columns::new(&HEADERS, Last::Figure);
    for row in rows.iter().take(MAX_ROWS) {
        table.row(vec![
            shown_path(&report.call_path(row.node), PATH_WIDTH),
            measured_calls(row),
            known(row.process.map(|used| used.cpu_ns), duration_ns),
            known(row.thread.map(|used: Used| used.cpu_ns), duration_ns),
            known(row.process.and_then(|used| used.read_bytes), bytes),
            known(row.process.and_then(|used| used.written_bytes), bytes),
            known(row.growth_bytes, growth),
        ]);
    }
    let mut notes = Vec::new();
    if rows.len() > MAX_ROWS {
        notes.push(format!("… and {} more", rows.len() - MAX_ROWS));
    }
    notes.push(
        "Of the whole process while the section was open, read at both ends of outer sections."
            .into(),
    );
    if rows.iter().any(|row| row.process.is_none()) {
        notes.push("Of calls that were open at the same time it cannot be told apart.".into());
    }
    if rows.iter().any(|row| !row.is_whole()) {
        notes.push("Calls that were read, of all: the others were beyond the budget of readings, and nothing is estimated for them.".into());
    }
    (!rows.is_empty()).then(|| table.block("RESOURCES OF OUTER SECTIONS", &notes))
}
