//! Calls that launched work, each with all of it.

use super::DeviceTimeline;
use crate::import::chrome::Trace;

/// A call and what it launched: one kernel, or the thousands of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// The row of the call.
    pub(super) row: u32,
    /// Kernels, copies and fills.
    pub(super) n_ops: u64,
    /// Their durations together.
    pub(super) total_ns: u64,
}

/// The calls that launched the work of these devices, in order of rows. Work without a launch is not in it.
pub(super) fn launches(trace: &Trace, timelines: &[DeviceTimeline]) -> Vec<Launch> {
    let work = timelines.iter().flat_map(|timeline| &timeline.work);
    let mut each: Vec<(u32, u64)> = work
        .filter_map(|work| Some((work.launch?, work.interval().length_ns())))
        .filter(|(row, _)| (*row as usize) < trace.rows.len())
        .collect();
    each.sort_unstable();
    each.chunk_by(|a, b| a.0 == b.0)
        .filter_map(|group| {
            Some(Launch {
                row: group.first()?.0,
                n_ops: group.len() as u64,
                total_ns: group.iter().map(|w| w.1).fold(0, u64::saturating_add),
            })
        })
        .collect()
}
