//! Requests that the allocator could not meet, and why.

use serde::Serialize;

use super::level::Level;
use super::replay::Replay;
use super::stacks::StackFrames;
use super::times::Times;
use crate::import::snapshot::{Action, MemoryEvent};

/// Rows of the list.
const MAX_ROWS: usize = 32;

/// A request that was not met.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OutOfMemory {
    /// When; `None` when not known.
    pub at_ns: Option<u64>,
    /// What was asked for.
    pub asked_bytes: u64,
    /// What the device had left, of all processes; `None` when not known.
    pub device_free_bytes: Option<u64>,
    /// What the allocator had at that moment.
    pub level: Level,
    /// Why it failed.
    pub cause: OutOfMemoryCause,
    /// Where; `None` when no stack was recorded.
    pub stack: Option<StackFrames>,
    /// Section that was open in the main thread: names from the top level down; empty when none is known. Not safe to print.
    pub section: Vec<String>,
}

/// Why a request was not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutOfMemoryCause {
    /// The allocator held enough free memory, but in pieces that were too small.
    Fragmentation,
    /// Enough was free, but in memory pools of CUDA graphs or of the program, which other requests may not use.
    OtherPool,
    /// It would have held enough, but other streams still needed what the program had given back.
    AwaitingFree,
    /// The device had enough: a limit of the process, or the driver, stood in the way.
    Limit,
    /// It was more than was left.
    TooLarge,
    /// What the device had left is not known.
    Unknown,
}

/// States in which a request failed.
pub(super) fn states(replay: &Replay<'_>) -> Vec<usize> {
    let events = replay.events.iter().enumerate();
    let failed = events.filter(|(_, event)| event.action == Action::OutOfMemory);
    failed.map(|(at, _)| at + 1).take(MAX_ROWS).collect()
}

impl OutOfMemory {
    pub(super) fn new(
        replay: &Replay<'_>,
        state: usize,
        level: Level,
        times: &Times<'_>,
    ) -> Option<Self> {
        let event = replay.events.get(state.checked_sub(1)?)?;
        Some(Self {
            at_ns: times.at_ns(event.time_us),
            asked_bytes: event.bytes,
            device_free_bytes: event.device_free_bytes,
            cause: cause(event, &level),
            level,
            stack: StackFrames::new(replay.snapshot, event.stack),
            section: times.path(times.node(event.time_us)),
        })
    }
}

fn cause(event: &MemoryEvent, level: &Level) -> OutOfMemoryCause {
    let asked = event.bytes;
    let usable = level.free_bytes - level.other_pools_free_bytes;
    match event.device_free_bytes {
        Some(free) if free >= asked => OutOfMemoryCause::Limit,
        _ if usable >= asked => OutOfMemoryCause::Fragmentation,
        _ if usable.saturating_add(level.awaiting_free_bytes) >= asked => {
            OutOfMemoryCause::AwaitingFree
        }
        _ if level.free_bytes.saturating_add(level.awaiting_free_bytes) >= asked => {
            OutOfMemoryCause::OtherPool
        }
        Some(_) => OutOfMemoryCause::TooLarge,
        None => OutOfMemoryCause::Unknown,
    }
}
