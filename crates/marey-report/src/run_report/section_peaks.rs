//! Most that torch's allocator held during each call path.

use std::cmp::Reverse;

use marey_analysis::SectionPeak;

use super::path;
use crate::document::{Cell, Table};
use crate::model::Report;

/// Highest first.
pub(super) fn table(report: &Report) -> Table {
    let mut rows: Vec<&SectionPeak> = report.section_peaks.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.allocated_bytes), row.node, row.device));
    let are_at_least = rows.iter().any(|row| row.is_at_least());
    let peak = |row: &SectionPeak, held: u64| Cell::Bytes(held).or_more(row.is_at_least());
    let mut table = Table::of_each(
        "section_peaks",
        "Peak memory by section",
        rows,
        &[
            ("section", "Section", &|r| path(report, r.node)),
            ("device", "GPU", &|r| Cell::Count(r.device.into())),
            ("n_calls", "Calls", &|r| Cell::Count(r.n_calls)),
            ("n_measured", "Measured", &|r| Cell::Count(r.n_measured)),
            ("allocated_bytes", "Allocated", &|r| peak(r, r.allocated_bytes)),
            ("reserved_bytes", "Reserved", &|r| peak(r, r.reserved_bytes)),
            ("added_bytes", "Added", &|r| peak(r, r.added_bytes)),
            ("growth_bytes", "Growth", &|r| Cell::Growth(r.growth_bytes)),
            ("fragmentation_ratio", "Unused at peak", &|r| Cell::ratio(r.fragmentation_ratio)),
            ("inactive_split_bytes", "Cut up", &|r| Cell::bytes(r.inactive_split_bytes)),
        ],
    );
    if are_at_least {
        table = table
            .noted("≥ at least: not all calls were measured, and figures are of those that were.");
    }
    table
        .noted("By torch's allocator, of the whole process: what other threads allocated meanwhile counts, too.")
        .noted("Added: peak above what was allocated at the begin. Growth: allocated after minus before a call. Both of the call with most.")
}
