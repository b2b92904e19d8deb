//! The lanes of a process, and how a thread gets one.

use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::layout::{LaneLayout, process};
use super::mapping::Mapping;
use super::ring::Ring;
use super::{FORKED, Lane, OFF, ON, RECORDER, Recorder, STATE, Slot};
use crate::clock;

/// Most lanes that a process gets; threads beyond record nothing, and that is counted.
const MAX_LANES: usize = 4096;

/// Notes of a sampler between two rounds of the drain: a hundred rounds of a hundred series.
const SAMPLER_NOTE_WORDS: usize = 16 << 10;

/// How long no thread asks for a new lane after there was no memory for one.
const CLAIM_PAUSE_NS: u64 = 100_000_000;

/// Lanes that ended threads left behind and that are not drained yet.
const MAX_UNDRAINED: usize = 16;

thread_local! {
    pub(super) static LANE: Cell<Option<&'static Lane>> = const { Cell::new(None) };
    static LANE_RETURN: LaneReturn = const { LaneReturn };
}

/// All lanes, and those whose thread has ended.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    pub(super) all: Vec<&'static Lane>,
    pub(super) free: Vec<&'static Lane>,
    /// Lanes of samplers that have ended.
    pub(super) free_of_samplers: Vec<&'static Lane>,
    /// Places in the table of open sections that futures have used.
    pub(super) free_slots: Vec<Slot>,
    pub(super) n_threads: u32,
    pub(super) shared_bytes: usize,
}

impl Lanes {
    /// So many threads have ended since the drain came round that waiting for it is better than more lanes.
    fn wait_for_drain(&self) -> bool {
        self.free.len() >= MAX_UNDRAINED && !self.free.iter().any(|lane| lane.is_drained())
    }
}

/// The calling thread's lane; `None` when recording is off. Costs a thread-local read once the thread has recorded.
#[expect(clippy::inline_always, reason = "on every path of every section")]
#[inline(always)]
pub fn lane() -> Option<&'static Lane> {
    match STATE.load(Relaxed) {
        OFF => return None,
        ON => {
            if let Some(lane) = LANE.get() {
                return Some(lane);
            }
        }
        _ => {}
    }
    first_record()
}

/// The calling thread's lane, if it has recorded.
pub fn own_lane() -> Option<&'static Lane> {
    (STATE.load(Relaxed) == ON).then(|| LANE.get()).flatten()
}

#[cold]
fn first_record() -> Option<&'static Lane> {
    match STATE.load(Acquire) {
        OFF => None,
        FORKED => {
            let recorder = RECORDER.get()?;
            recorder.restart_in_child();
            recorder.claim_lane()
        }
        _ => RECORDER.get()?.claim_lane(),
    }
}

/// A sampler's lane, which the next one gets when this is dropped.
#[derive(Debug)]
pub(crate) struct SamplerLane(&'static Lane);

impl std::ops::Deref for SamplerLane {
    type Target = Lane;

    fn deref(&self) -> &Lane {
        self.0
    }
}

impl Drop for SamplerLane {
    fn drop(&mut self) {
        self.0.recorder().lanes().free_of_samplers.push(self.0);
    }
}

/// Gives the lane back when its thread ends.
struct LaneReturn;

impl Drop for LaneReturn {
    fn drop(&mut self) {
        if let Some(lane) = LANE.take() {
            let recorder = lane.recorder();
            recorder.lanes().free.push(lane);
            // Once it is drained another thread can have it.
            recorder.wake_drain();
        }
    }
}

impl Recorder {
    /// A lane for the calling thread: one whose thread has ended and that is drained, or a new one. Where there was none it is tried again
    /// only after a while: asking costs as much as thousands of sections.
    fn claim_lane(&'static self) -> Option<&'static Lane> {
        let lane =
            (clock::ticks() >= self.next_claim.load(Relaxed)).then(|| self.try_claim()).flatten();
        if lane.is_none() {
            self.count_unrecorded();
        }
        lane
    }

    fn try_claim(&'static self) -> Option<&'static Lane> {
        if LANE_RETURN.try_with(|_| ()).is_err() {
            // The thread is being torn down.
            return None;
        }
        // Unless the drain is at work, or waits for a disk.
        if self.lanes().wait_for_drain()
            && let Ok(mut drain) = self.drain.try_lock()
        {
            drain.round(self);
        }
        let (lane, thread) = {
            let mut lanes = self.lanes();
            let thread = lanes.n_threads;
            let drained = lanes.free.iter().position(|lane| lane.is_drained());
            let lane = match drained {
                Some(at) => lanes.free.swap_remove(at),
                None => self.new_lane(&mut lanes).or_else(|| {
                    let pause = self.ticks_of(CLAIM_PAUSE_NS);
                    let next = clock::ticks().saturating_add(pause);
                    self.next_claim.store(next, Relaxed);
                    None
                })?,
            };
            lanes.n_threads += 1;
            (lane, thread)
        };
        lane.hand_over(thread);
        LANE.set(Some(lane));
        Some(lane)
    }

    /// A small lane for a sampler, which has notes and no sections.
    pub(crate) fn sampler_lane(&'static self) -> Option<SamplerLane> {
        let mut lanes = self.lanes();
        let lane = match lanes.free_of_samplers.pop() {
            Some(lane) => lane,
            None => self.lane_of_size(&mut lanes, 64, SAMPLER_NOTE_WORDS, 16)?.0,
        };
        lane.hand_to_sampler();
        Some(SamplerLane(lane))
    }

    fn new_lane(&'static self, lanes: &mut Lanes) -> Option<&'static Lane> {
        let records = self.config.ring_records.next_power_of_two();
        let note_words = (self.config.note_bytes / 8).next_power_of_two();
        let n_nodes = self.config.max_nodes.clamp(16, 65_000);
        let (lane, is_shared) = self.lane_of_size(lanes, records, note_words, n_nodes)?;
        if !is_shared {
            self.header()[process::LANES_PRIVATE].fetch_add(1, Relaxed);
        }
        Some(lane)
    }

    /// A lane, and whether other processes can see it.
    fn lane_of_size(
        &'static self,
        lanes: &mut Lanes,
        records: usize,
        note_words: usize,
        n_nodes: usize,
    ) -> Option<(&'static Lane, bool)> {
        if lanes.all.len() >= MAX_LANES {
            return None;
        }
        let id = u32::try_from(lanes.all.len()).ok()?;
        let size = LaneLayout::new(records, note_words, n_nodes).end;
        let is_within_cap = lanes.shared_bytes + size * 8 <= self.config.shared_bytes;
        let shared = if is_within_cap { self.folder().lane(id, size) } else { None };
        let is_shared = shared.is_some();
        let mapping = if let Some(mapping) = shared {
            lanes.shared_bytes += size * 8;
            mapping
        } else {
            Mapping::private(size).ok()?
        };
        let ring = Ring::new(mapping.words(), id, records, note_words, n_nodes);
        let lane: &'static Lane = Box::leak(Box::new(Lane::new(id, ring, mapping, self)));
        lanes.all.push(lane);
        Some((lane, is_shared))
    }
}
