//! `gpu_time`, how the GPU times of sections were measured, and `section_memory`, the peaks of torch's allocator.

use marey_analysis::{GpuTimes, SectionPeak};
use serde::Serialize;

use super::object::object;
use super::{mebibytes, seconds};

/// How they were measured; the times themselves are in `sections`.
pub(super) fn gpu_time(found: &GpuTimes) -> impl Serialize {
    let streams = found.streams.iter().map(|stream| {
        object! {
            device: stream.device,
            stream: stream.stream,
            spans: stream.n_spans,
            covered: stream.covered_ns.map(seconds),
        }
    });
    object! {
        measured_by: &found.measured_by,
        calls: found.n_calls,
        calls_not_measured: found.n_not_measured,
        streams: streams.collect::<Vec<_>>(),
    }
}

/// One call path on one device.
pub(super) fn section_peak(row: &SectionPeak) -> impl Serialize + use<> {
    object! {
        section: row.node,
        device: row.device,
        calls_measured: row.n_measured,
        calls: row.n_calls,
        allocated_mb: mebibytes(row.allocated_bytes),
        reserved_mb: mebibytes(row.reserved_bytes),
        added_mb: mebibytes(row.added_bytes),
        growth_bytes: row.growth_bytes,
        fragmentation: row.fragmentation_ratio,
        inactive_split_mb: row.inactive_split_bytes.map(mebibytes),
    }
}
