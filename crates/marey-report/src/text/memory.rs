//! Labelled memory readings, in the shape of the documents.

use marey_analysis::LabelledReading;

use super::block;
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{known, mebibytes};
use crate::width::pad_end;

const TITLE: &str = "MEMORY USAGE SUMMARY";
const WIDTH: usize = 82;
const LABEL_WIDTH: usize = 43;

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
    row(&cut(&reading.label, LABEL_WIDTH), figures.each_ref().map(String::as_str))
}

fn row(label: &str, figures: [&str; 3]) -> String {
    let [allocated, reserved, peak] = figures;
    let label = pad_end(label, LABEL_WIDTH);
    format!("{label} {allocated:>12} {reserved:>12} {peak:>12}")
}
