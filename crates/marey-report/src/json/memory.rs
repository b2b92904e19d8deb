//! `memory_snapshots` and peaks, in MiB.

use marey_analysis::{Memory, memory_source_name};

use super::figures::timestamp;
use super::mebibytes;
use super::object::{Json, object};
use crate::model::Report;

/// The labelled readings, in order of time.
pub(crate) fn snapshots(report: &Report) -> Vec<impl Json> {
    let labelled = report.memory.iter().flat_map(|memory| &memory.labelled);
    let snapshots = labelled.map(|reading| {
        object! {
            struct Snapshot;
            /// The user's label.
            label: &reading.label,
            /// When, seconds since 1970.
            timestamp: timestamp(&report.activity, reading.at_ns),
            /// In use, MiB: resident memory (process) or memory allocated to tensors (cuda).
            allocated_mb: mebibytes(reading.allocated_bytes),
            /// Held by the allocator, MiB; null for the process.
            reserved_mb: reading.reserved_bytes.map(mebibytes),
            /// Highest so far as the source counts it, MiB.
            max_allocated_mb: reading.peak_bytes.map(mebibytes),
            /// What was read.
            source: memory_source_name(reading.source),
            /// 1 - allocated / reserved: what the allocator holds without use.
            fragmentation: reading.fragmentation_ratio,
        }
    });
    snapshots.collect()
}

/// `memory`: each source with its peak.
pub(super) fn of<'a>(report: &'a Report, memory: &'a Memory) -> impl Json + use<'a> {
    let sources = memory.sources.iter().map(|found| {
        let peak = &found.peak;
        object! {
            /// process, or cuda: and the device's number.
            source: memory_source_name(found.source),
            /// Labelled or not.
            readings: found.n_readings,
            /// Highest reading, MiB.
            peak_allocated_mb: mebibytes(peak.allocated_bytes),
            /// When, seconds since 1970.
            peak_at: timestamp(&report.activity, peak.at_ns),
            /// Its label.
            peak_label: &peak.label,
            /// id of the innermost section that was open then, on the main thread if there was one.
            peak_section: peak.node,
            /// 1 - allocated / reserved at that moment.
            peak_fragmentation: peak.fragmentation_ratio,
            /// The most there was by the count of the kernel (process) or of torch's allocator, MiB, which may lie between two readings;
            /// the same as cpu_metrics.process.resident_mb.peak.
            counted_peak_mb: found.counted_peak_bytes.map(mebibytes),
        }
    });
    object! {
        /// Each source of readings.
        sources: sources.collect::<Vec<_>>(),
    }
}
