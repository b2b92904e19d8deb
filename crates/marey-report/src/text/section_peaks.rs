//! Most that torch's allocator held during each call path.

use std::cmp::Reverse;

use marey_analysis::SectionPeak;

use super::columns::{Columns, Last};
use super::sections::shown_path;
use crate::model::Report;
use crate::quantity::{bytes, growth, known, percent};

const MAX_ROWS: usize = 20;
const PATH_WIDTH: usize = 60;
const HEADERS: [&str; 9] = [
    "Section",
    "GPU",
    "Calls",
    "Allocated",
    "Reserved",
    "Added",
    "Growth",
    "Unused at peak",
    "Cut up",
];

/// Highest first; `None` when nothing was measured.
pub(super) fn table(report: &Report) -> Option<String> {
    let mut rows: Vec<&SectionPeak> = report.section_peaks.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.allocated_bytes), row.node, row.device));
    let mut table = Columns::new(&HEADERS, Last::Figure);
    for row in rows.iter().take(MAX_ROWS) {
        table.row(vec![
            shown_path(&report.call_path(row.node), PATH_WIDTH),
            row.device.to_string(),
            row.n_calls.to_string(),
            bytes(row.allocated_bytes),
            bytes(row.reserved_bytes),
            bytes(row.added_bytes),
            growth(row.growth_bytes),
            known(row.fragmentation_ratio, percent),
            known(row.inactive_split_bytes, bytes),
        ]);
    }
    let mut notes = Vec::new();
    if rows.len() > MAX_ROWS {
        notes.push(format!("… and {} more", rows.len() - MAX_ROWS));
    }
    notes.push(
        "By torch's allocator, of the whole process: what other threads allocated meanwhile counts, too.".into(),
    );
    notes.push(
        "Added: peak above what was allocated at the begin. Growth: allocated after minus before a call. Both of the \
         call with most."
            .into(),
    );
    (!rows.is_empty()).then(|| table.block("PEAK MEMORY BY SECTION", &notes))
}
