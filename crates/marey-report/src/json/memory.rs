//! `memory_snapshots` and peaks, in MiB.

use marey_analysis::{Memory, memory_source_name};
use serde::Serialize;

use super::figures::timestamp;
use super::mebibytes;
use super::object::object;
use crate::model::Report;

/// The labelled readings, in order of time.
pub(crate) fn snapshots(report: &Report) -> Vec<impl Serialize> {
    let labelled = report.memory.iter().flat_map(|memory| &memory.labelled);
    let snapshots = labelled.map(|reading| {
        object! {
            label: &reading.label,
            timestamp: timestamp(&report.activity, reading.at_ns),
            allocated_mb: mebibytes(reading.allocated_bytes),
            reserved_mb: reading.reserved_bytes.map(mebibytes),
            max_allocated_mb: reading.peak_bytes.map(mebibytes),
            source: memory_source_name(reading.source),
            fragmentation: reading.fragmentation_ratio,
        }
    });
    snapshots.collect()
}

/// `memory`: each source with its peak.
pub(super) fn of<'a>(report: &'a Report, memory: &'a Memory) -> impl Serialize + use<'a> {
    let sources = memory.sources.iter().map(|found| {
        let peak = &found.peak;
        object! {
            source: memory_source_name(found.source),
            readings: found.n_readings,
            peak_allocated_mb: mebibytes(peak.allocated_bytes),
            peak_at: timestamp(&report.activity, peak.at_ns),
            peak_label: &peak.label,
            peak_section: peak.node,
            peak_fragmentation: peak.fragmentation_ratio,
            counted_peak_mb: found.counted_peak_bytes.map(mebibytes),
        }
    });
    object! { sources: sources.collect::<Vec<_>>() }
}
