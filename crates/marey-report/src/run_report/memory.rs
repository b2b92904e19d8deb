//! Labelled memory readings, and peaks.

use marey_analysis::{SourceMemory, memory_source_name};

use super::joined_path;
use crate::document::{Cell, Table};
use crate::model::Report;

/// The labelled readings in order of time.
pub(super) fn readings(report: &Report) -> Table {
    let columns = [
        ("label", "Label"),
        ("source", "Of"),
        ("at_ns", "At"),
        ("allocated_bytes", "Allocated"),
        ("reserved_bytes", "Reserved"),
        ("peak_bytes", "Peak so far"),
    ];
    let mut table = Table::new("memory_readings", "Memory readings", &columns);
    for reading in report.memory.iter().flat_map(|memory| &memory.labelled) {
        table.row(vec![
            Cell::name(&reading.label),
            Cell::text(memory_source_name(reading.source)),
            Cell::Moment(reading.at_ns),
            Cell::Bytes(reading.allocated_bytes),
            Cell::known(reading.reserved_bytes, Cell::Bytes),
            Cell::known(reading.peak_bytes, Cell::Bytes),
        ]);
    }
    table
}

/// The most of each source, and where that was.
pub(super) fn peaks(report: &Report) -> Table {
    let columns = [
        ("source", "Source"),
        ("n_readings", "Readings"),
        ("peak_bytes", "Peak"),
        ("highest_reading_bytes", "Highest reading"),
        ("at_ns", "At"),
        ("fragmentation_ratio", "Fragmented"),
        ("section", "Where"),
    ];
    let mut table = Table::new("memory_peaks", "Memory peaks", &columns);
    for source in report.memory.iter().flat_map(|memory| &memory.sources) {
        let peak = &source.peak;
        let counted = source.counted_peak_bytes.unwrap_or(0);
        table.row(vec![
            Cell::text(memory_source_name(source.source)),
            Cell::Count(source.n_readings),
            Cell::Bytes(counted.max(peak.allocated_bytes)),
            Cell::Bytes(peak.allocated_bytes),
            Cell::Moment(peak.at_ns),
            Cell::known(peak.fragmentation_ratio, Cell::Ratio),
            Cell::Name(place(report, source)),
        ]);
    }
    table
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
