//! Most that torch's allocator held during each call path.

use std::cmp::Reverse;

use marey_analysis::SectionPeak;

use super::path;
use crate::document::{Cell, Table};
use crate::model::Report;

/// Highest first.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("section", "Section"),
        ("device", "GPU"),
        ("n_calls", "Calls"),
        ("n_measured", "Measured"),
        ("allocated_bytes", "Allocated"),
        ("reserved_bytes", "Reserved"),
        ("added_bytes", "Added"),
        ("growth_bytes", "Growth"),
        ("fragmentation_ratio", "Unused at peak"),
        ("inactive_split_bytes", "Cut up"),
    ];
    let mut table = Table::new("section_peaks", "Peak memory by section", &columns);
    let mut rows: Vec<&SectionPeak> = report.section_peaks.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.allocated_bytes), row.node, row.device));
    for row in &rows {
        let peak = |held: u64| Cell::Bytes(held).or_more(row.is_at_least());
        table.row(vec![
            path(report, row.node),
            Cell::Count(row.device.into()),
            Cell::Count(row.n_calls),
            Cell::Count(row.n_measured),
            peak(row.allocated_bytes),
            peak(row.reserved_bytes),
            peak(row.added_bytes),
            Cell::Growth(row.growth_bytes),
            Cell::known(row.fragmentation_ratio, Cell::Ratio),
            Cell::known(row.inactive_split_bytes, Cell::Bytes),
        ]);
    }
    if rows.iter().any(|row| row.is_at_least()) {
        let note = "≥ at least: not all calls were measured, and figures are of those that were.";
        table.notes.push(note.into());
    }
    let notes = [
        "By torch's allocator, of the whole process: what other threads allocated meanwhile counts, too.",
        "Added: peak above what was allocated at the begin. Growth: allocated after minus before a call. Both of the call with most.",
    ];
    table.notes.extend(notes.map(str::to_owned));
    table
}
