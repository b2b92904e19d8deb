//! How much of the time was each device busy, with what, and what of it at the same time?

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork};
use crate::import::chrome::Trace;
use crate::intervals::{common_length_ns, length_ns, length_within, union_length_ns};
use crate::stats::{ratio, sum};

/// One device; each moment counts once, however many streams were at work.
///
/// ```text
/// compute         |------|     |----|
/// communication       |-----|                |-|
/// memory                              |--|
/// busy            |---------|  |----| |--|   |-|
/// span            |----------------------------|
/// ```
///
/// `span = compute + exposed communication + exposed memory + idle + unknown`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Utilization {
    /// What the trace calls the device.
    pub device: String,
    /// Kernels, copies and fills.
    pub n_ops: u64,
    /// When its first work began, after the first event of the trace.
    pub first_ns: u64,
    /// From there to the end of its last work.
    pub span_ns: u64,
    /// Time with any work.
    pub busy_ns: u64,
    /// The rest of the span, but for what is not known.
    pub idle_ns: u64,
    /// Time without work in the trace in which there may have been some: launches have no work in it, see [`super::LaunchCoverage`].
    pub unknown_ns: u64,
    /// The same before its first work and after its last, within the trace.
    pub unknown_around_ns: u64,
    /// Time with kernels that are not communication.
    pub compute_ns: u64,
    /// Time with kernels that are.
    pub communication_ns: u64,
    /// Time with copies and fills.
    pub memory_ns: u64,
    /// Time with communication and no other kernel.
    pub exposed_communication_ns: u64,
    /// Time with copies and fills and no kernel.
    pub exposed_memory_ns: u64,
    /// Each stream by itself. One may wait while another works: what is idle here need not be idle time of the device.
    pub streams: Vec<StreamUse>,
}

/// One stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StreamUse {
    /// What the trace calls it.
    pub stream: String,
    /// Kernels, copies and fills.
    pub n_ops: u64,
    /// Time with any.
    pub busy_ns: u64,
    /// From its first work to the end of its last.
    pub span_ns: u64,
    /// Sum of durations beyond `busy_ns`: work of one stream that overlaps. Normal where a kernel may begin before its
    /// predecessor ends, otherwise a sign of wrong durations.
    pub self_overlap_ns: u64,
}

/// What went on at the same time on a device.
///
/// ```text
/// compute         |------|     |----|
/// communication       |-----|          |--|       5 of it overlapped, 3 + 3 exposed
/// memory                     |---|        |-|     2 hidden by kernels, the rest exposed
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Overlap {
    /// Time with communication.
    pub communication_ns: u64,
    /// The part of it in which the device also computed.
    pub overlapped_communication_ns: u64,
    /// The rest: nothing but communication, and perhaps copies.
    pub exposed_communication_ns: u64,
    /// Share of the communication that is overlapped, 0 to 1; `None` when there is no communication.
    pub communication_overlap_ratio: Option<f64>,
    /// Time with copies and fills.
    pub memory_ns: u64,
    /// The part of it in which a kernel ran, of whatever kind.
    pub hidden_memory_ns: u64,
    /// The rest.
    pub exposed_memory_ns: u64,
}

impl Utilization {
    /// A longer time that the device is in by what it did: computing, communication and copies beside nothing else, nothing, what is
    /// not known. They add up; without those that are nothing.
    pub fn parts_of(&self, wall_ns: u64) -> Vec<(&'static str, u64)> {
        let unknown_ns = self.unknown_ns.saturating_add(self.unknown_around_ns);
        let known_ns = self.busy_ns.saturating_add(unknown_ns);
        let mut parts = vec![
            ("GPU compute", self.compute_ns),
            ("communication", self.exposed_communication_ns),
            ("copies", self.exposed_memory_ns),
            ("GPU idle", wall_ns.saturating_sub(known_ns)),
            ("GPU work not recorded", unknown_ns),
        ];
        parts.retain(|(_, ns)| *ns > 0);
        parts
    }
}

/// How busy a device was.
pub fn utilization(trace: &Trace, timeline: &DeviceTimeline) -> Utilization {
    let span = timeline.span();
    let busy_ns = length_ns(&timeline.busy);
    let overlap = overlap(timeline);
    let unknown_ns = length_within(span, &timeline.unknown);
    Utilization {
        device: trace.process_label(timeline.process),
        n_ops: timeline.work.len() as u64,
        first_ns: span.start_ns,
        span_ns: span.length_ns(),
        busy_ns,
        idle_ns: span.length_ns().saturating_sub(busy_ns.saturating_add(unknown_ns)),
        unknown_ns,
        unknown_around_ns: length_ns(&timeline.unknown).saturating_sub(unknown_ns),
        compute_ns: length_ns(&timeline.compute),
        communication_ns: overlap.communication_ns,
        memory_ns: overlap.memory_ns,
        exposed_communication_ns: overlap.exposed_communication_ns,
        exposed_memory_ns: overlap.exposed_memory_ns,
        streams: streams(trace, timeline),
    }
}

/// What was hidden on a device.
pub fn overlap(timeline: &DeviceTimeline) -> Overlap {
    let communication_ns = length_ns(&timeline.communication);
    let overlapped_ns = common_length_ns(&timeline.communication, &timeline.compute);
    let memory_ns = length_ns(&timeline.memory);
    let hidden_ns = common_length_ns(&timeline.memory, &timeline.kernels());
    Overlap {
        communication_ns,
        overlapped_communication_ns: overlapped_ns,
        exposed_communication_ns: communication_ns - overlapped_ns,
        communication_overlap_ratio: (communication_ns > 0)
            .then(|| ratio(u128::from(overlapped_ns), u128::from(communication_ns))),
        memory_ns,
        hidden_memory_ns: hidden_ns,
        exposed_memory_ns: memory_ns - hidden_ns,
    }
}

/// Each stream, in order.
fn streams(trace: &Trace, timeline: &DeviceTimeline) -> Vec<StreamUse> {
    // A stable sort keeps the work of a stream in order of time.
    let mut by_stream: Vec<&DeviceWork> = timeline.work.iter().collect();
    by_stream.sort_by_key(|work| work.stream);
    let of_stream = |work: &[&DeviceWork]| {
        let first = work.first()?;
        let stream = timeline.streams.get(first.stream as usize)?;
        let end_ns = work.iter().map(|work| work.end_ns).max()?;
        let sum_ns = sum(work.iter().map(|work| work.length_ns()));
        let busy_ns = union_length_ns(work.iter().map(|work| work.interval()).collect());
        Some(StreamUse {
            stream: trace.tracks.label(*stream),
            n_ops: work.len() as u64,
            busy_ns,
            span_ns: end_ns.saturating_sub(first.start_ns),
            self_overlap_ns: sum_ns.saturating_sub(busy_ns),
        })
    };
    let streams = by_stream.chunk_by(|a, b| a.stream == b.stream);
    streams.filter_map(of_stream).collect()
}
