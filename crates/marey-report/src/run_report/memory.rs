//! Labelled memory readings, and peaks.

use marey_analysis::{SourceMemory, memory_source_name};

use super::joined_path;
use crate::document::{Cell, Table};
use crate::model::Report;

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
