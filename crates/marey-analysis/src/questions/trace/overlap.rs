//! How much communication and copying was hidden behind computing?

use serde::Serialize;

use super::device_timeline::DeviceTimeline;
use crate::intervals::{common_length_ns, length_ns, union};
use crate::stats::ratio;

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

/// What was hidden on a device.
pub fn overlap(timeline: &DeviceTimeline) -> Overlap {
    let communication_ns = length_ns(&timeline.communication);
    let overlapped_ns = common_length_ns(&timeline.communication, &timeline.compute);
    let kernels = if timeline.communication.is_empty() {
        None
    } else {
        Some(union([&timeline.compute[..], &timeline.communication].concat()))
    };
    let kernels = kernels.as_ref().unwrap_or(&timeline.compute);
    let memory_ns = length_ns(&timeline.memory);
    let hidden_ns = common_length_ns(&timeline.memory, kernels);
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
