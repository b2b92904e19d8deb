//! `gpu_time`, how the GPU times of sections were measured, and `section_memory`, the peaks of torch's allocator.

use marey_analysis::{GpuTimes, SectionPeak, StreamGpuTime};
use serde::Serialize;

use super::{mebibytes, seconds};

/// `gpu_time` of the report; the times themselves are in `sections`.
#[derive(Serialize)]
pub(super) struct GpuTimeObject<'a> {
    measured_by: Option<&'a str>,
    calls: u64,
    calls_not_measured: u64,
    streams: Vec<StreamObject>,
}

#[derive(Serialize)]
struct StreamObject {
    device: u32,
    stream: u64,
    spans: u64,
    covered: Option<f64>,
}

/// One call path on one device.
#[derive(Serialize)]
pub(super) struct SectionPeakObject {
    section: u32,
    device: u32,
    calls: u64,
    allocated_mb: f64,
    reserved_mb: f64,
    added_mb: f64,
    growth_bytes: i64,
    fragmentation: Option<f64>,
    inactive_split_mb: Option<f64>,
}

impl<'a> GpuTimeObject<'a> {
    pub(super) fn new(found: &'a GpuTimes) -> Self {
        let stream = |stream: &StreamGpuTime| StreamObject {
            device: stream.device,
            stream: stream.stream,
            spans: stream.n_spans,
            covered: stream.covered_ns.map(seconds),
        };
        Self {
            measured_by: found.measured_by.as_deref(),
            calls: found.n_calls,
            calls_not_measured: found.n_not_measured,
            streams: found.streams.iter().map(stream).collect(),
        }
    }
}

impl SectionPeakObject {
    pub(super) fn new(row: &SectionPeak) -> Self {
        Self {
            section: row.node,
            device: row.device,
            calls: row.n_calls,
            allocated_mb: mebibytes(row.allocated_bytes),
            reserved_mb: mebibytes(row.reserved_bytes),
            added_mb: mebibytes(row.added_bytes),
            growth_bytes: row.growth_bytes,
            fragmentation: row.fragmentation_ratio,
            inactive_split_mb: row.inactive_split_bytes.map(mebibytes),
        }
    }
}
