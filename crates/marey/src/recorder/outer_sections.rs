//! Which sections are read for what they use, and those of one thread that are open.
//!
//! ```text
//! generate   [-----------------------------------------]     level 1: read at both ends
//!   denoise     [---------------------]   decode [---]        level 2: read at both ends
//!     step        |--||--||--||--||--|                        deeper: not read
//! ```
//!
//! A reading takes 3 to 8 µs, so there is a budget: of each call path 100 sections at once and 5 a second, of a thread 400 and 100. A
//! section that is beyond it has no figures, and no estimate takes their place.

#![expect(
    clippy::inline_always,
    reason = "every recorded section asks, and nearly all are told no"
)]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::slots::Slot;
use crate::clock;
use crate::resources::{Counted, Resources};

/// Deepest level that is read.
pub(super) const LEVELS: usize = 2;
/// Sections of a call path, at once and a second.
const OF_PATH: (u64, u64) = (100, 5);
/// Sections of a thread, at once and a second.
const OF_THREAD: (u64, u64) = (400, 100);
/// Call paths whose allowance is remembered; one takes the place of another with the same number below this.
const N_PATHS: usize = 64;
/// Sections that are open and were read; more in one thread are tasks.
const MAX_OPEN: usize = 32;

/// So many at once, and so many a second: when all of it is there again, had nothing more been taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    whole_at_ns: u64,
}

impl Allowance {
    /// Nothing has been taken.
    pub const fn new() -> Self {
        Self { whole_at_ns: 0 }
    }

    /// Takes one, of `at_once` that come back at `per_second`. Times are nanoseconds from any moment, and do not go back.
    pub fn take(&mut self, now_ns: u64, (at_once, per_second): (u64, u64)) -> bool {
        if now_ns < self.ready_ns((at_once, per_second)) {
            return false;
        }
        let each_ns = 1_000_000_000 / per_second.max(1);
        self.whole_at_ns = self.whole_at_ns.max(now_ns).saturating_add(each_ns);
        true
    }

    /// From when on one can be taken.
    pub fn ready_ns(&self, (at_once, per_second): (u64, u64)) -> u64 {
        let each_ns = 1_000_000_000 / per_second.max(1);
        let spare_ns = each_ns.saturating_mul(at_once.saturating_sub(1));
        self.whole_at_ns.saturating_sub(spare_ns)
    }
}

/// What one thread knows of its outer sections.
#[derive(Debug)]
pub(super) struct OuterSections {
    /// Node, and from when on (ticks) a section of it is looked at more closely; owned by the thread.
    paths: [(AtomicU64, AtomicU64); N_PATHS],
    /// A bit for each slot modulo 64 that an open section which was read lies in.
    open_slots: AtomicU64,
    /// Never waited for: only the thread itself takes it.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    of_thread: Allowance,
    of_path: [Allowance; N_PATHS],
    open: Vec<OpenReading>,
    /// A moment on both clocks.
    seen: (u64, u64),
}

#[derive(Debug)]
struct OpenReading {
    slot: u32,
    start: u64,
    before: Counted,
}

const NEVER: u64 = u64::MAX;

impl OuterSections {
    pub(super) fn new() -> Self {
        Self {
            paths: [const { (AtomicU64::new(NEVER), AtomicU64::new(0)) }; N_PATHS],
            open_slots: AtomicU64::new(0),
            state: Mutex::new(State::new()),
        }
    }

    /// Whether a section of `node` that begins at `start` may be read.
    #[inline(always)]
    pub(super) fn is_due(&self, node: u32, start: u64) -> bool {
        let (known, due) = &self.paths[node as usize % N_PATHS];
        start >= due.load(Relaxed) || known.load(Relaxed) != u64::from(node)
    }

    /// Whether a section of that slot may have been read when it began.
    #[inline(always)]
    pub(super) fn may_be_read(&self, slot: Slot) -> bool {
        self.open_slots.load(Relaxed) & bit(slot.number()) != 0
    }

    /// Reads for a section that is about to begin; its start in ticks, which is after the reading. `None` when it is not read.
    #[cold]
    pub(super) fn begin(&self, slot: Slot, node: u32, is_outer: bool) -> Option<u64> {
        let (known, due) = &self.paths[node as usize % N_PATHS];
        let is_known = known.swap(node.into(), Relaxed) == u64::from(node);
        if !is_outer {
            due.store(NEVER, Relaxed);
            return None;
        }
        let mut state = self.state();
        let (now, now_ns) = (clock::ticks(), clock::monotonic_ns());
        let at = node as usize % N_PATHS;
        if !is_known {
            state.of_path[at] = Allowance::new();
        }
        let ready_ns = state.of_path[at].ready_ns(OF_PATH).max(state.of_thread.ready_ns(OF_THREAD));
        if now_ns < ready_ns {
            let wait = state.ticks_of(ready_ns - now_ns, (now, now_ns));
            due.store(now.saturating_add(wait), Relaxed);
            return None;
        }
        due.store(0, Relaxed);
        let before = Counted::now()?;
        state.of_path[at].take(now_ns, OF_PATH);
        state.of_thread.take(now_ns, OF_THREAD);
        let start = clock::ticks();
        state.add(OpenReading { slot: slot.number(), start, before });
        self.note_slots(&state);
        Some(start)
    }

    /// What the section of a slot used that began at `start` and has just ended; `None` when it was not read.
    #[cold]
    pub(super) fn end(&self, slot: Slot, start: u64) -> Option<Resources> {
        let mut state = self.state();
        let of_slot = |open: &OpenReading| open.slot == slot.number();
        let at = state.open.iter().position(of_slot)?;
        let begun = state.open.swap_remove(at);
        self.note_slots(&state);
        drop(state);
        // A section that was left without an end has its slot taken by another one.
        if begun.start != start {
            return None;
        }
        Some(Counted::now()?.since(&begun.before))
    }

    /// For another thread, or another recording.
    pub(super) fn forget(&self) {
        for (known, _) in &self.paths {
            known.store(NEVER, Relaxed);
        }
        let mut state = self.state();
        *state = State::new();
        self.note_slots(&state);
    }

    fn note_slots(&self, state: &State) {
        let bits = state.open.iter().map(|open| bit(open.slot));
        self.open_slots.store(bits.fold(0, |all, bit| all | bit), Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn new() -> Self {
        Self {
            of_thread: Allowance::new(),
            of_path: [Allowance::new(); N_PATHS],
            open: Vec::new(),
            seen: (clock::ticks(), clock::monotonic_ns()),
        }
    }

    /// Keeps the newest: what is in the way has been left without an end.
    fn add(&mut self, reading: OpenReading) {
        self.open.retain(|open| open.slot != reading.slot);
        if self.open.len() >= MAX_OPEN {
            self.open.remove(0);
        }
        self.open.push(reading);
    }

    /// A length in ticks, by what has passed since the thread began; a nanosecond has at least one.
    fn ticks_of(&self, length_ns: u64, (now, now_ns): (u64, u64)) -> u64 {
        let (ticks, ns) = (now - self.seen.0.min(now), now_ns - self.seen.1.min(now_ns));
        let per_ns = ticks.checked_div(ns).unwrap_or(1).max(1);
        length_ns.saturating_mul(per_ns)
    }
}

fn bit(slot: u32) -> u64 {
    1 << (slot % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    fn n_taken(n: u64, mut take: impl FnMut(u64) -> bool) -> u64 {
        (0..n).map(|at| u64::from(take(at))).sum()
    }

    #[test]
    fn an_allowance_is_used_up_and_comes_back_with_time() {
        // 3 at once, 2 a second: at 0 three; at 0.4 s nothing, at 0.5 s one; after a long time three again
        let mut few = Allowance::default();
        assert_eq!(n_taken(5, |_| few.take(0, (3, 2))), 3);
        assert!(!few.take(400 * MS, (3, 2)));
        assert_eq!(n_taken(5, |_| few.take(500 * MS, (3, 2))), 1);
        assert_eq!(n_taken(5, |_| few.take(100 * S, (3, 2))), 3);
    }

    #[test]
    fn extremes_do_not_panic() {
        let mut none = Allowance::default();
        assert!(none.take(0, (0, 0)));
        let mut last = Allowance::default();
        assert!(last.take(u64::MAX, (1, 1)));
    }
}
