//! Most that torch's allocator held during each call path.

use std::cmp::Reverse;

use marey_analysis::{Highest, SectionPeak};

use super::path;
use crate::document::{Cell, Table};
use crate::model::Report;

/// Highest first.
pub(super) fn table(report: &Report) -> Table {
    let mut rows: Vec<&SectionPeak> = report.section_peaks.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.allocated.bytes), row.node, row.device));
    let is_partly_measured = |row: &&SectionPeak| row.n_measured < row.n_calls;
    let is_at_least = |row: &&SectionPeak| {
        [row.allocated, row.reserved, row.added].iter().any(|most| most.is_at_least)
    };
    let not_all_measured = rows.iter().any(is_partly_measured);
    let not_all_rose = rows.iter().any(|row| is_at_least(row) && !is_partly_measured(row));
    let peak = |most: Highest| Cell::Bytes(most.bytes).or_more(most.is_at_least);
    let mut table = Table::of_each(
        "section_peaks",
        "Peak memory by section",
        rows,
        &[
            ("section", "Section", &|r| path(report, r.node)),
            ("device", "GPU", &|r| Cell::Count(r.device.into())),
            ("n_calls", "Calls", &|r| Cell::Count(r.n_calls)),
            ("n_measured", "Measured", &|r| Cell::Count(r.n_measured)),
            ("allocated_bytes", "Allocated", &|r| peak(r.allocated)),
            ("reserved_bytes", "Reserved", &|r| peak(r.reserved)),
            ("added_bytes", "Added", &|r| peak(r.added)),
            ("growth_bytes", "Growth", &|r| Cell::Growth(r.growth_bytes)),
            ("fragmentation_ratio", "Unused at peak", &|r| Cell::ratio(r.fragmentation_ratio)),
            ("inactive_split_bytes", "Cut up", &|r| Cell::bytes(r.inactive_split_bytes)),
        ],
    );
    if not_all_measured {
        table = table
            .noted("≥ at least: not all calls were measured, and figures are of those that were.");
    }
    if not_all_rose {
        table = table.noted(
            "≥ at least: torch counts one peak for all, and where that did not rise during a call, \
             the call's own is between it and what was held at the ends of the call.",
        );
    }
    table
        .noted("By torch's allocator, of the whole process: what other threads allocated meanwhile counts, too.")
        .noted("Added: peak above what was allocated at the begin. Growth: allocated after minus before a call. Both of the call with most.")
}
