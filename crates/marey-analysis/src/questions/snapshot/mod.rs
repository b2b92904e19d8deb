//! What a memory snapshot says: how much there was when, what it was, and why it did not fit.

mod alive;
mod curve;
mod growth;
mod level;
mod named_ranges;
mod open_sections;
mod out_of_memory;
mod pools;
mod ranges;
mod replay;
mod stacks;
mod times;

use std::collections::BTreeSet;

use marey::Run;
use serde::Serialize;

use crate::import::snapshot::Snapshot;

pub use alive::{Alive, AliveInSection, AliveRow};
pub use curve::CurvePoint;
pub use growth::{GrowthOf, GrowthPoint, MemoryGrowth};
pub use level::Level;
pub use out_of_memory::{OutOfMemory, OutOfMemoryCause};
pub use pools::PoolUse;
pub use stacks::{StackFrame, StackFrames};
pub use times::TimeOrigin;

use replay::Replay;
use times::Times;

/// What a memory snapshot says.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SnapshotAnswers {
    /// What moments are counted from.
    pub time_origin: TimeOrigin,
    /// The whole history is of another time than the run, so it is of another process or recording, and nothing is known by
    /// sections. `None` without a run, and when the snapshot has no times.
    pub is_outside_of_run: Option<bool>,
    /// Each device that has memory or a history, by its number.
    pub devices: Vec<DeviceMemory>,
    /// What in the file could not be used: what it is, and how often.
    pub warnings: Vec<(&'static str, u64)>,
}

/// The allocator of one device.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct DeviceMemory {
    /// The device.
    pub device: u32,
    /// Events in the history; 0 when none was recorded: only `end` and `pools` are known then.
    pub n_events: u64,
    /// Wall clock of the first event, nanoseconds since 1970; `None` when not known.
    pub first_event_unix_ns: Option<u64>,
    /// How long the history is; `None` when not known.
    pub recorded_ns: Option<u64>,
    /// What was there when the history begins. More than 0 when it lost its beginning, or was switched on late.
    pub start: Level,
    /// When the program had most, the earliest of equals; `None` without a history.
    pub peak: Option<Level>,
    /// When the allocator had most, the earliest of equals; `None` without a history.
    pub reserved_peak: Option<Level>,
    /// When the snapshot was taken.
    pub end: Level,
    /// What the program had at its peak; without a history, at the end.
    pub alive: Alive,
    /// What the program had at the last request that was not met; `None` without one.
    #[serde(skip)]
    pub alive_at_failure: Option<Alive>,
    /// What the allocator holds at the end, by pool, the largest first; the first 100.
    pub pools: Vec<PoolUse>,
    /// Over time, at most 601 stretches, those without an event left out; empty without a history.
    pub curve: Vec<CurvePoint>,
    /// Between denoising steps or snapshots; `None` when there are none within the history.
    pub growth: Option<MemoryGrowth>,
    /// Requests that were not met; the first 32.
    pub out_of_memory: Vec<OutOfMemory>,
    /// Sizes of allocations that are gone are rounded by an unusual rule (`roundup_power2_divisions`), so `allocated` may be somewhat too low before the end.
    pub is_rounding_unusual: bool,
    /// Events that contradict others or the state at the end: where there are some, a part of the history is missing, and levels are
    /// not exact.
    pub n_contradictions: u64,
}

/// What a snapshot says; with the run of the same process also by its sections and steps. A run that no device's history
/// overlaps is taken for none. Without one the ranges that the program named (`record_function`) are its sections, where torch
/// noted them.
pub fn snapshot(snapshot: &Snapshot, run: Option<&Run>) -> SnapshotAnswers {
    let is_outside_of_run = run.and_then(|run| times::is_outside(snapshot, run));
    let run = run.filter(|_| is_outside_of_run == Some(false));
    let of_segments = snapshot.segments.iter().map(|segment| segment.device);
    let traces = (0..).zip(&snapshot.traces);
    let of_traces = traces.filter(|(_, trace)| !trace.events.is_empty());
    let devices: BTreeSet<u32> = of_segments.chain(of_traces.map(|(d, _)| d)).collect();
    SnapshotAnswers {
        time_origin: Times::new(run, None).origin(),
        is_outside_of_run,
        devices: devices.into_iter().map(|d| device(snapshot, d, run)).collect(),
        warnings: snapshot.warnings.clone(),
    }
}

fn device(snapshot: &Snapshot, device: u32, run: Option<&Run>) -> DeviceMemory {
    let replay = Replay::new(snapshot, device);
    let first_us = replay.events.first().and_then(|event| event.time_us);
    let last_us = replay.events.last().and_then(|event| event.time_us);
    let named = run
        .is_none()
        .then(|| first_us.and_then(|at_us| named_ranges::as_run(snapshot, device, at_us)));
    let named = named.flatten();
    let times = Times::new(run.or(named.as_ref()), first_us);
    let end = replay.events.len();
    let peak = Replay::highest(&replay.allocated_bytes);
    let reserved_peak = Replay::highest(&replay.reserved_bytes);
    let failed = out_of_memory::states(&replay);
    let mut states = vec![0, peak, reserved_peak, end];
    states.extend(&failed);
    states.sort_unstable();
    let levels = level::levels(&replay, &states, &times);
    let level = |state: usize| levels[states.partition_point(|s| *s < state)].clone();
    let has_history = !replay.events.is_empty();
    DeviceMemory {
        device,
        n_events: end as u64,
        first_event_unix_ns: first_us.map(|us| us.saturating_mul(1000)),
        recorded_ns: first_us
            .zip(last_us)
            .and_then(|(first, last)| Some(last.checked_sub(first)?.saturating_mul(1000))),
        start: level(0),
        peak: has_history.then(|| level(peak)),
        reserved_peak: has_history.then(|| level(reserved_peak)),
        end: level(end),
        alive: Alive::new(&replay, if has_history { peak } else { end }, &times),
        alive_at_failure: failed.last().map(|at| Alive::new(&replay, *at, &times)),
        pools: pools::pools(snapshot, device),
        curve: if has_history { curve::curve(&replay, &times) } else { Vec::new() },
        growth: growth::growth(&replay, &times),
        out_of_memory: failed
            .iter()
            .filter_map(|state| {
                out_of_memory::OutOfMemory::new(&replay, *state, level(*state), &times)
            })
            .collect(),
        is_rounding_unusual: snapshot.rounds_to_powers,
        n_contradictions: replay.n_contradictions,
    }
}

#[cfg(test)]
mod tests;
