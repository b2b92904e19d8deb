//! Labelled memory readings and peaks.

use marey_analysis::{LabelledReading, Memory, SourceMemory, memory_source_name};

use super::block;
use super::columns::{Columns, Last};
use super::sections::shown_path;
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{bytes, known, mebibytes, percent, time_s};
use crate::width::pad_end;

const TITLE: &str = "MEMORY USAGE SUMMARY";
const WIDTH: usize = 82;
const LABEL_WIDTH: usize = 43;
const PATH_WIDTH: usize = 60;

/// The labelled readings in order of time, in MiB.
pub fn memory_summary(report: &Report) -> String {
    let header = row("Label", ["Allocated", "Reserved", "Max Alloc"]);
    let labelled = report.memory.iter().flat_map(|memory| &memory.labelled);
    let mut lines: Vec<String> = labelled.map(reading_row).collect();
    if lines.is_empty() {
        lines.push("(no labelled reading was taken)".into());
    }
    block::table(TITLE, &header, &lines, WIDTH)
}

fn reading_row(reading: &LabelledReading) -> String {
    let figures = [
        mebibytes(reading.allocated_bytes),
        known(reading.reserved_bytes, mebibytes),
        known(reading.peak_bytes, mebibytes),
    ];
    row(
        &cut(&reading.label, LABEL_WIDTH),
        figures.each_ref().map(String::as_str),
    )
}

fn row(label: &str, figures: [&str; 3]) -> String {
    let [allocated, reserved, peak] = figures;
    let label = pad_end(label, LABEL_WIDTH);
    format!("{label} {allocated:>12} {reserved:>12} {peak:>12}")
}

/// Peaks by source; `None` without readings.
pub(super) fn details(report: &Report) -> Option<String> {
    report.memory.as_ref().map(|memory| peaks(report, memory))
}

fn peaks(report: &Report, memory: &Memory) -> String {
    let headers = [
        "Source",
        "Readings",
        "Peak",
        "Highest reading",
        "At",
        "Fragmented",
        "Where",
    ];
    let mut table = Columns::new(&headers, Last::Text);
    for source in &memory.sources {
        let peak = &source.peak;
        table.row(vec![
            memory_source_name(source.source),
            source.n_readings.to_string(),
            bytes(
                source
                    .counted_peak_bytes
                    .unwrap_or(0)
                    .max(peak.allocated_bytes),
            ),
            bytes(peak.allocated_bytes),
            format!("{} s", time_s(peak.at_ns)),
            known(peak.fragmentation_ratio, percent),
            place(report, source),
        ]);
    }
    table.block("MEMORY PEAKS", &[])
}

fn place(report: &Report, source: &SourceMemory) -> String {
    let label = source.peak.label.as_ref().map(|label| cut(label, 40));
    let section = source
        .peak
        .node
        .map(|node| shown_path(&report.call_path(node), PATH_WIDTH));
    match (section, label) {
        (Some(section), Some(label)) => format!("{section} ({label})"),
        (Some(found), None) | (None, Some(found)) => found,
        (None, None) => "under no section".into(),
    }
}
