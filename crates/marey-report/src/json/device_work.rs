//! `gpu_time`, how the GPU times of sections were measured, and `section_memory`, the peaks of torch's allocator.

use marey_analysis::{GpuTimes, SectionPeak};

use super::object::{Json, object};
use super::{mebibytes, seconds};

/// How they were measured; the times themselves are in `sections`.
pub(super) fn gpu_time(found: &GpuTimes) -> impl Json {
    let streams = found.streams.iter().map(|stream| {
        object! {
            /// Number of the GPU.
            device: stream.device,
            /// The stream, as torch numbers it; 0 is the default stream.
            stream: stream.stream,
            /// Calls that were measured on it.
            spans: stream.n_spans,
            /// Time that they cover, each moment once, seconds; null unless it is known where all of them lie.
            covered: stream.covered_ns.map(seconds),
        }
    });
    object! {
        struct GpuTime;
        /// How: CUDA events, HIP events; null when the capture does not say.
        measured_by: &found.measured_by,
        /// Calls of the call paths that have GPU times.
        calls: found.n_calls,
        /// Those of them without one.
        calls_not_measured: found.n_not_measured,
        /// What each stream did.
        streams: streams.collect::<Vec<_>>(),
    }
}

/// One call path on one device.
pub(super) fn section_peak(row: &SectionPeak) -> impl Json + use<> {
    object! {
        struct SectionMemory;
        /// id of the call path.
        section: row.node,
        /// Number of the GPU.
        device: row.device,
        /// Calls that were measured; all figures are of these.
        calls_measured: row.n_measured,
        /// Calls that were made.
        calls: row.n_calls,
        /// Most in tensors during one measured call, MiB.
        allocated_mb: mebibytes(row.allocated.bytes),
        /// A call may have had more: not all were measured, or torch's own peak, which counts from the program's last reset, did not rise.
        is_allocated_at_least: row.allocated.is_at_least,
        /// Most held by the allocator during one measured call, MiB.
        reserved_mb: mebibytes(row.reserved.bytes),
        /// The same of what was held.
        is_reserved_at_least: row.reserved.is_at_least,
        /// Most in tensors above what was at the beginning of the call, MiB.
        added_mb: mebibytes(row.added.bytes),
        /// The same of that.
        is_added_at_least: row.added.is_at_least,
        /// Largest difference of what was in tensors after and before a call; negative when all gave memory back.
        growth_bytes: row.growth_bytes,
        /// 1 - allocated_mb / reserved_mb: what the allocator held that no tensor used; null when nothing was held, or one of the two is not known.
        fragmentation: row.fragmentation_ratio,
        /// Most that was held after a call and too cut up to be given back, MiB; null where torch did not say.
        inactive_split_mb: row.inactive_split_bytes.map(mebibytes),
    }
}
