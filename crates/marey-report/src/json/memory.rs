//! Memory: labelled readings and peaks, in MiB, and allocations that the program reported.

use marey_analysis::{Allocated, Memory, memory_source_name};

use super::figures::{listed, timestamp};
use super::object::{Fields, Json, object};
use super::{bytes_of, list, mebibytes};
use crate::model::{Activity, Report};

/// The labelled readings, in order of time.
pub(super) fn snapshots(report: &Report) -> Vec<impl Json> {
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

/// `memory_log.json`: the labelled readings in order of time as a bare list, each as in `memory_snapshots` of the profiling report.
pub fn memory_log(report: &Report) -> Vec<u8> {
    bytes_of(&snapshots(report))
}

/// `memory`: each source with its peak.
pub(super) fn of<'a>(report: &'a Report, memory: &'a Memory) -> impl Json + use<'a> {
    object! {
        /// Each source of readings.
        sources: list(&memory.sources, |found| object! {
            /// process, or cuda: and the device's number.
            source: memory_source_name(found.source),
            /// Labelled or not.
            readings: found.n_readings,
            /// Highest reading, MiB.
            peak_allocated_mb: mebibytes(found.peak.allocated_bytes),
            /// When, seconds since 1970.
            peak_at: timestamp(&report.activity, found.peak.at_ns),
            /// Its label.
            peak_label: &found.peak.label,
            /// id of the innermost section that was open then, on the main thread if there was one.
            peak_section: found.peak.node,
            /// 1 - allocated / reserved at that moment.
            peak_fragmentation: found.peak.fragmentation_ratio,
            /// The most there was by the count of the kernel (process) or of torch's allocator, MiB, which may lie between two readings;
            /// the same as cpu_metrics.process.resident_mb.peak.
            counted_peak_mb: found.counted_peak_bytes.map(mebibytes),
        }),
    }
}

/// `memory_events`: allocations and releases; `None` when the program reported none.
pub(super) fn memory_events(activity: &Activity) -> Option<impl Json> {
    let found = activity.allocations.as_ref()?;
    let (events, events_left_out) = listed(&found.each, |(at_ns, report)| {
        object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, *at_ns),
            /// `alloc` or `dealloc`.
            event_type: if report.is_release { "dealloc" } else { "alloc" },
            /// Its size.
            size_bytes: report.bytes,
            /// Who made it; null when not said.
            allocator: &report.allocator,
            /// What for; null when not said.
            context: &report.context,
        }
    });
    Some(object! {
        /// Allocations and releases that the program reported.
        struct MemoryEvents;
        ..sums(found.all),
        /// Most that was allocated and not yet released, of what was reported.
        peak_bytes: found.peak_bytes,
        /// When that was, seconds since 1970.
        peak_at: timestamp(activity, found.peak_at_ns),
        /// By allocator and context, those with most bytes allocated first.
        uses: list(&found.uses, |one| object! {
            /// Who made them; null when not said.
            allocator: &one.allocator,
            /// What for; null when not said.
            context: &one.context,
            ..sums(one.sums),
        }),
        /// Each report, in order of time, at most 10000.
        events: events,
        /// Reports beyond those.
        events_left_out: events_left_out,
    })
}

fn sums(found: Allocated) -> impl Fields {
    object! {
        /// Allocations.
        n_allocations: found.n_allocations,
        /// Bytes of them.
        allocated_bytes: found.allocated_bytes,
        /// Releases.
        n_releases: found.n_releases,
        /// Bytes of them.
        released_bytes: found.released_bytes,
        /// Allocated less released; below zero when more was released than reported as allocated.
        held_bytes: found.held_bytes,
    }
}
