//! `memory_snapshots` and peaks, in MiB.

use marey_analysis::{LabelledReading, Memory, SourceMemory, memory_source_name};
use serde::Serialize;

use super::{mebibytes, seconds};
use crate::model::Report;

/// One labelled reading.
#[derive(Serialize)]
pub(crate) struct Snapshot<'a> {
    label: &'a str,
    timestamp: f64,
    allocated_mb: f64,
    reserved_mb: Option<f64>,
    max_allocated_mb: Option<f64>,
    source: String,
    fragmentation: Option<f64>,
}

/// `memory` of the report.
#[derive(Serialize)]
pub(super) struct MemoryAnalysis<'a> {
    sources: Vec<SourceObject<'a>>,
}

#[derive(Serialize)]
struct SourceObject<'a> {
    source: String,
    readings: u64,
    peak_allocated_mb: f64,
    peak_at: f64,
    peak_label: Option<&'a str>,
    peak_section: Option<u32>,
    peak_fragmentation: Option<f64>,
    counted_peak_mb: Option<f64>,
}

/// The labelled readings, in order of time.
pub(crate) fn snapshots(report: &Report) -> Vec<Snapshot<'_>> {
    let labelled = report.memory.iter().flat_map(|memory| &memory.labelled);
    labelled.map(|reading| snapshot(report, reading)).collect()
}

fn snapshot<'a>(report: &Report, reading: &'a LabelledReading) -> Snapshot<'a> {
    Snapshot {
        label: &reading.label,
        timestamp: seconds(report.run.start_unix_ns.saturating_add(reading.at_ns)),
        allocated_mb: mebibytes(reading.allocated_bytes),
        reserved_mb: reading.reserved_bytes.map(mebibytes),
        max_allocated_mb: reading.peak_bytes.map(mebibytes),
        source: memory_source_name(reading.source),
        fragmentation: reading.fragmentation_ratio,
    }
}

impl<'a> MemoryAnalysis<'a> {
    pub(super) fn new(report: &Report, memory: &'a Memory) -> Self {
        let source = |found| SourceObject::new(report, found);
        Self {
            sources: memory.sources.iter().map(source).collect(),
        }
    }
}

impl<'a> SourceObject<'a> {
    fn new(report: &Report, found: &'a SourceMemory) -> Self {
        let peak = &found.peak;
        Self {
            source: memory_source_name(found.source),
            readings: found.n_readings,
            peak_allocated_mb: mebibytes(peak.allocated_bytes),
            peak_at: seconds(report.run.start_unix_ns.saturating_add(peak.at_ns)),
            peak_label: peak.label.as_deref(),
            peak_section: peak.node,
            peak_fragmentation: peak.fragmentation_ratio,
            counted_peak_mb: found.counted_peak_bytes.map(mebibytes),
        }
    }
}
