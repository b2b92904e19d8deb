//! What an allocator had at one moment, and how much of it was of use.

use serde::Serialize;

use super::ranges::Ranges;
use super::replay::Replay;
use super::times::Times;
use crate::questions::memory::fragmentation_ratio;

/// Where memory is taken from that no graph and no `torch.cuda.MemPool` asks for.
const ORDINARY_POOL: (i64, i64) = (0, 0);

/// What an allocator had at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Level {
    /// When; `None` when not known.
    pub at_ns: Option<u64>,
    /// Number of events before it.
    pub event: u64,
    /// What the program had.
    pub allocated_bytes: u64,
    /// What the allocator had from the driver.
    pub reserved_bytes: u64,
    /// What the program had given back, but other streams still needed.
    pub awaiting_free_bytes: u64,
    /// The rest: free, in whatever pieces.
    pub free_bytes: u64,
    /// The largest free piece. Within a segment of the large kind it may be up to 1 MiB too large: what lies behind an allocation and is
    /// too small to be split off belongs to that allocation.
    pub largest_free_bytes: u64,
    /// The part of `free_bytes` that lies in memory pools of CUDA graphs and of the program: no other request may use it.
    pub other_pools_free_bytes: u64,
    /// Number of ranges of addresses that the allocator had.
    pub n_ranges: u64,
    /// `1 − allocated / reserved`, 0 to 1; `None` when nothing is reserved.
    pub fragmentation_ratio: Option<f64>,
}

/// The levels of states, which ascend.
pub(super) fn levels(replay: &Replay<'_>, states: &[usize], times: &Times<'_>) -> Vec<Level> {
    let ranges = Ranges::in_states(replay, states);
    let each = states.iter().zip(&ranges);
    each.map(|(state, ranges)| level(replay, *state, ranges, times)).collect()
}

fn level(replay: &Replay<'_>, state: usize, ranges: &Ranges, times: &Times<'_>) -> Level {
    let allocated_bytes = replay.allocated_bytes[state];
    let reserved_bytes = replay.reserved_bytes[state];
    let awaiting_free_bytes = replay.waiting_bytes(state);
    let in_use = replay.allocations.iter();
    let in_use = in_use.filter(|a| a.is_allocated(state) || a.is_waiting(state));
    let mut used: Vec<(u64, u64)> = in_use.map(|a| (a.address, a.bytes)).collect();
    used.sort_unstable();
    let taken = allocated_bytes.saturating_add(awaiting_free_bytes);
    let free_bytes = reserved_bytes.saturating_sub(taken);
    let segments = replay.snapshot.segments.iter();
    let of_other_pools = segments
        .filter(|s| s.device == replay.device && s.pool.is_some_and(|pool| pool != ORDINARY_POOL))
        .map(|s| (s.address, s.total_bytes));
    let other_pools_free_bytes = ranges.within(of_other_pools).free_bytes(&used);
    Level {
        at_ns: times.at_ns(replay.time_us(state)),
        event: state as u64,
        allocated_bytes,
        reserved_bytes,
        awaiting_free_bytes,
        free_bytes,
        largest_free_bytes: ranges.largest_gap(&used).min(free_bytes),
        other_pools_free_bytes: other_pools_free_bytes.min(free_bytes),
        n_ranges: ranges.len(),
        fragmentation_ratio: fragmentation_ratio(allocated_bytes, Some(reserved_bytes)),
    }
}
