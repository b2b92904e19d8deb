//! Memory: labelled readings and peaks, what the program reported, and what sections held and used.

use std::cmp::Reverse;

use marey_analysis::{Highest, SectionPeak, SourceMemory, UsedResources, memory_source_name};

use super::{joined_path, path};
use crate::document::{Cell, Table};
use crate::model::Report;
use crate::quantity::{bytes, time_s};

/// The labelled readings in order of time.
pub(super) fn readings(report: &Report) -> Table {
    let memory = report.memory.iter();
    Table::of_each(
        "memory_readings",
        "Memory readings",
        memory.flat_map(|memory| &memory.labelled),
        &[
            ("label", "Label", &|r| Cell::name(&r.label)),
            ("source", "Of", &|r| Cell::text(memory_source_name(r.source))),
            ("at_ns", "At", &|r| Cell::Moment(r.at_ns)),
            ("allocated_bytes", "Allocated", &|r| Cell::Bytes(r.allocated_bytes)),
            ("reserved_bytes", "Reserved", &|r| Cell::bytes(r.reserved_bytes)),
            ("peak_bytes", "Peak so far", &|r| Cell::bytes(r.peak_bytes)),
        ],
    )
}

/// The most of each source, and where that was.
pub(super) fn peaks(report: &Report) -> Table {
    let memory = report.memory.iter();
    Table::of_each(
        "memory_peaks",
        "Memory peaks",
        memory.flat_map(|memory| &memory.sources),
        &[
            ("source", "Source", &|s| Cell::text(memory_source_name(s.source))),
            ("n_readings", "Readings", &|s| Cell::Count(s.n_readings)),
            ("peak_bytes", "Peak", &|s| Cell::Bytes(most(s))),
            ("highest_reading_bytes", "Highest reading", &|s| Cell::Bytes(s.peak.allocated_bytes)),
            ("at_ns", "At", &|s| Cell::Moment(s.peak.at_ns)),
            ("fragmentation_ratio", "Fragmented", &|s| Cell::ratio(s.peak.fragmentation_ratio)),
            ("section", "Where", &|s| Cell::Name(place(report, s))),
        ],
    )
}

/// As its source counted it, or as it was read.
pub(super) fn most(source: &SourceMemory) -> u64 {
    let counted = source.counted_peak_bytes.unwrap_or(0);
    counted.max(source.peak.allocated_bytes)
}

fn place(report: &Report, source: &SourceMemory) -> String {
    let section = source.peak.node.map(|node| joined_path(report, node));
    match (section, &source.peak.label) {
        (Some(section), Some(label)) => format!("{section} ({label})"),
        (Some(found), None) => found,
        (None, Some(label)) => label.clone(),
        (None, None) => "under no section".into(),
    }
}

/// Allocations and releases that the program reported: sums by allocator and context, those of all first.
pub(super) fn allocations(report: &Report) -> Table {
    let found = report.activity.allocations.as_ref();
    let all = found.filter(|found| found.uses.len() > 1);
    let all = all.map(|found| (Cell::text("(all)"), Cell::Absent, &found.all));
    let name = |name: &Option<String>| Cell::known(name.as_deref(), Cell::name);
    let uses = found.into_iter().flat_map(|found| &found.uses);
    let uses = uses.map(|one| (name(&one.allocator), name(&one.context), &one.sums));
    let mut table = Table::of_each(
        "memory_events",
        "Memory events",
        all.into_iter().chain(uses),
        &[
            ("allocator", "Allocator", &|(allocator, ..)| allocator.clone()),
            ("context", "Context", &|(_, context, _)| context.clone()),
            ("n_allocations", "Allocations", &|(.., a)| Cell::Count(a.n_allocations)),
            ("allocated_bytes", "Allocated", &|(.., a)| Cell::Bytes(a.allocated_bytes)),
            ("n_releases", "Releases", &|(.., a)| Cell::Count(a.n_releases)),
            ("released_bytes", "Released", &|(.., a)| Cell::Bytes(a.released_bytes)),
            ("held_bytes", "Held", &|(.., a)| Cell::Growth(a.held_bytes)),
        ],
    );
    table.notes.extend(found.map(|found| {
        let (peak, at) = (bytes(found.peak_bytes), time_s(found.peak_at_ns));
        format!("As the program reported them. Peak held: {peak} at {at} s.")
    }));
    table
}

/// Most that torch's allocator held during each call path, highest first.
pub(super) fn section_peaks(report: &Report) -> Table {
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

/// What outer sections used, most processor time first.
pub(super) fn section_resources(report: &Report) -> Table {
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
