//! The producer's half of a lane: what one thread does to record. Nothing here locks, allocates or calls the kernel, except
//! where marked cold.

#![expect(
    clippy::inline_always,
    reason = "every recorded section does this, from other crates too"
)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Recorder;
use super::call_paths::NameId;
use super::identity;
use super::layout::{FLAG_FAILED, FLAG_PAUSED, lane, low};
use super::mapping::Mapping;
use super::outer_sections::{LEVELS, OuterSections};
use super::ring::Ring;
use super::slots::{Current, Slot, Slots};
use super::totals::NodeWords;
use crate::clock;
use crate::device_work::SectionKey;
use crate::generation::Generation;
use crate::note::Note;
use crate::run::{NodeKind, Thread};

/// Slots that a lane's Rust guards use, taken from the table when the first guard is opened.
const GUARD_SLOTS: u32 = 64;
const NO_SLOTS: u64 = u64::MAX;
/// The newest step of each session and flow, and how often it was reported again.
type LastSteps = BTreeMap<(Option<u64>, u16), ((Option<u64>, bool), u32)>;
/// Sessions whose newest steps are remembered.
const MAX_SESSIONS: usize = 64;
/// Most passes of one step, as in reports.
const MAX_PASSES: u32 = 4;
/// Entries of the cache from (parent, name) to node.
const PATH_CACHE: usize = 256;

/// One thread's way to record. Lives as long as the process; belongs to one thread at a time.
#[derive(Debug)]
pub struct Lane {
    id: u32,
    pub(crate) ring: Ring<'static>,
    pub(crate) mapping: Mapping,
    recorder: &'static Recorder,
    slots: Slots,
    histograms: &'static [AtomicU32],
    limit: Own,
    notes_head: Own,
    current_link: Own,
    current_node: Own,
    current_flow: Own,
    guard_slots: Own,
    guard_slots_free: Own,
    is_introduced: Own,
    paths: [(Own, Own); PATH_CACHE],
    outer: OuterSections,
    /// Never waited for: only the thread itself takes it.
    steps: Mutex<LastSteps>,
}

/// A number that only the owning thread touches. Atomic, because lanes are handed from thread to thread; a relaxed access is a plain one.
#[derive(Debug)]
struct Own(AtomicU64);

impl Own {
    const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    #[inline]
    fn set(&self, value: u64) {
        self.0.store(value, Relaxed);
    }
}

/// How a section ended, and in which flow of execution it ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// 0 for the thread's own stack, otherwise a number for the asyncio task.
    pub flow: u16,
    /// It was left by an error.
    pub is_failed: bool,
    /// It was suspended in between: its end is its start and the time it ran.
    pub has_pauses: bool,
}

impl Ending {
    /// As the upper half of a record's third word.
    #[inline]
    fn word(self) -> u64 {
        let failed = if self.is_failed { FLAG_FAILED } else { 0 };
        let paused = if self.has_pauses { FLAG_PAUSED } else { 0 };
        u64::from(self.flow) << 32 | (failed | paused) << 48
    }
}

impl Lane {
    pub(crate) fn new(
        id: u32,
        ring: Ring<'static>,
        mapping: Mapping,
        recorder: &'static Recorder,
    ) -> Self {
        Self {
            id,
            ring,
            mapping,
            recorder,
            slots: recorder.slots,
            histograms: recorder.histograms,
            limit: Own::new(0),
            notes_head: Own::new(0),
            current_link: Own::new(Current::NONE.link),
            current_node: Own::new(Current::NONE.node.into()),
            current_flow: Own::new(0),
            guard_slots: Own::new(NO_SLOTS),
            guard_slots_free: Own::new(u64::MAX),
            is_introduced: Own::new(0),
            paths: [const { (Own::new(u64::MAX), Own::new(0)) }; PATH_CACHE],
            outer: OuterSections::new(),
            steps: Mutex::default(),
        }
    }

    /// The recorder that this lane belongs to.
    pub fn recorder(&self) -> &'static Recorder {
        self.recorder
    }

    /// Rises with everything that this thread writes.
    pub fn n_written(&self) -> u64 {
        self.ring.get(lane::HEAD) + self.ring.get(lane::NOTES_HEAD)
    }

    /// The open section that a new one goes under.
    #[inline]
    pub fn current(&self) -> Current {
        Current { link: self.current_link.get(), node: low(self.current_node.get()) }
    }

    /// The node that a new section goes under.
    #[inline(always)]
    pub fn current_node(&self) -> u32 {
        low(self.current_node.get())
    }

    /// Makes another open section, of another task say, the parent of what comes next.
    #[inline]
    pub fn set_current(&self, current: Current) {
        self.current_link.set(current.link);
        self.current_node.set(current.node.into());
    }

    /// The flow of the future that is polled; 0 for the thread's own stack. Python keeps flows itself.
    #[inline(always)]
    pub(crate) fn flow(&self) -> u16 {
        (self.current_flow.get() & 0xffff) as u16
    }

    /// What runs from here on is of another flow.
    pub(crate) fn set_flow(&self, flow: u16) {
        self.current_flow.set(flow.into());
    }

    /// When the section began that a new one goes under, in ticks; `None` when none is open.
    pub fn current_start(&self) -> Option<u64> {
        self.slots.start_of(self.current())
    }

    /// Whether the section that `current` stands for is still open.
    pub fn is_open(&self, current: Current) -> bool {
        self.slots.is_open(current)
    }

    /// How many sections lie around what goes under a node, that of `current` included; `most` where there are more.
    pub fn level(&self, node: u32, most: usize) -> usize {
        self.recorder.paths.level(node, most)
    }

    /// The node of a name under the current section.
    #[inline]
    pub fn node(&self, name: NameId, kind: NodeKind, is_detached: bool) -> u32 {
        let parent = self.current().node;
        let key = u64::from(parent) << 32
            | u64::from(name.0) << 2
            | (kind as u64) << 1
            | u64::from(is_detached);
        let at = (key ^ key >> 30).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let entry = &self.paths[at as usize % PATH_CACHE];
        if entry.0.get() == key {
            return low(entry.1.get());
        }
        let node = self.recorder.paths.node(parent, name, kind, is_detached);
        entry.0.set(key);
        entry.1.set(node.into());
        node
    }

    /// Opens a slot for a section of `node` under the current one, now. Returns the time in ticks. What outer sections use is read before
    /// they begin and after they end, within a budget ([`crate::SectionResources`]).
    #[inline(always)]
    pub fn enter(&self, slot: Slot, node: u32, flow: u16) -> u64 {
        let mut start = clock::ticks();
        if self.outer.is_due(node, start) {
            start = self.begin_outer(slot, node);
        }
        self.set_current(self.open(slot, node, flow, start));
        start
    }

    /// Opens a slot under the current section, which stays that.
    #[inline(always)]
    pub(crate) fn open(&self, slot: Slot, node: u32, flow: u16, start: u64) -> Current {
        slot.open(node, self.current(), u64::from(self.id) | u64::from(flow) << 32, start)
    }

    /// Closes a slot and records its section. Does nothing when the slot is not open.
    #[inline(always)]
    pub fn exit(&self, slot: Slot, ending: Ending) {
        let end = clock::ticks();
        let may_be_read = self.outer.may_be_read(slot);
        if let Some((start, node)) = self.leave(slot) {
            self.complete(node, start, end, ending);
            if may_be_read {
                self.end_outer(slot, (start, node), ending);
            }
        }
    }

    /// Reads what is used until now, if the section is worth it. Returns the time in ticks.
    #[cold]
    fn begin_outer(&self, slot: Slot, node: u32) -> u64 {
        let is_outer = self.level(node, LEVELS + 1) <= LEVELS;
        let read = self.outer.begin(slot, node, is_outer);
        read.unwrap_or_else(clock::ticks)
    }

    #[cold]
    fn end_outer(&self, slot: Slot, (start_ticks, node): (u64, u32), ending: Ending) {
        let Some(mut used) = self.outer.end(slot, start_ticks) else {
            return;
        };
        if ending.flow != 0 {
            used.thread = None;
        }
        let thread = self.thread_number();
        let section = SectionKey { thread, node, start_ticks };
        let note = Note::SectionResources(section, used);
        // Half of the room is for what the program says.
        if let Some(words) = note.encode(clock::ticks(), None)
            && self.has_half_room(words.len() as u64)
        {
            self.note(&words);
        }
    }

    /// Closes a slot without recording: its start in ticks and its node. `None` when it is not open.
    #[inline(always)]
    pub fn leave(&self, slot: Slot) -> Option<(u64, u32)> {
        let (start, node) = slot.close()?;
        self.set_current(self.slots.after_close(slot, self.current()));
        Some((start, node))
    }

    /// Leaves a section in the table of open ones that nothing runs in: a suspended generator. It adopts nothing. [`Self::unpark`]
    /// comes before the slot is used again.
    pub fn park(&self, slot: Slot, node: u32, start: u64) {
        slot.open(node, Current::NONE, self.id.into(), start);
    }

    /// Ends what [`Self::park`] began.
    pub fn unpark(&self, slot: Slot) {
        slot.close();
    }

    /// Records a completed section. Times are ticks.
    #[inline(always)]
    pub fn complete(&self, node: u32, start: u64, end: u64, ending: Ending) {
        // Threads on processors whose counters differ by a few ticks must not produce a negative length.
        let end = end.max(start);
        let Some(words) = NodeWords::of(&self.ring, node as usize) else {
            return;
        };
        let head = self.ring.get(lane::HEAD);
        if head < self.limit.get() || self.make_room(head) {
            self.ring.commit(head, start, end, u64::from(node) | ending.word());
            self.count(&words, start, end, ending);
        } else {
            self.drop_record(&words, start, end, ending);
        }
    }

    #[expect(clippy::inline_always, reason = "half of what a section costs is here")]
    #[inline(always)]
    fn count(&self, words: &NodeWords<'_>, start: u64, end: u64, ending: Ending) {
        words
            .add(self.histograms, (start, end), ending.is_failed, || self.recorder.new_histogram());
    }

    /// Counts a call whose record finds no room.
    #[cold]
    fn drop_record(&self, words: &NodeWords<'_>, start: u64, end: u64, ending: Ending) {
        self.ring.begin_drop();
        self.count(words, start, end, ending);
        self.ring.end_drop();
    }

    /// Reads how far the drain has come. The limit stops at every half of the ring, so that the drain is woken before the ring is full.
    #[cold]
    fn make_room(&self, head: u64) -> bool {
        self.introduce();
        let capacity = self.ring.capacity();
        let used = head - self.ring.get(lane::TAIL);
        // A full ring comes here with every call; the drain was woken when it was half full.
        if (capacity / 2..capacity).contains(&used) {
            self.recorder.wake_drain();
        }
        let room =
            if used < capacity / 2 { capacity / 2 - used } else { capacity.saturating_sub(used) };
        self.limit.set(head + room);
        room > 0
    }

    /// A slot for a Rust guard; `None` beyond 64 at a time.
    #[inline]
    pub(crate) fn take_guard_slot(&self) -> Option<Slot> {
        if self.guard_slots.get() == NO_SLOTS {
            self.guard_slots.set(self.slots.take(GUARD_SLOTS)?.into());
        }
        let free = self.guard_slots_free.get();
        let at = free.trailing_zeros();
        if at >= GUARD_SLOTS {
            return None;
        }
        self.guard_slots_free.set(free & (free - 1));
        self.slots.at(low(self.guard_slots.get()) + at)
    }

    /// Gives a guard's slot back.
    #[inline]
    pub(crate) fn give_guard_slot(&self, slot: Slot) {
        let at = slot.number().wrapping_sub(low(self.guard_slots.get()));
        self.guard_slots_free.set(self.guard_slots_free.get() | 1 << (at & 63));
    }

    /// Appends a note: `words[0]` is its head word, see [`mod@crate::note`]. Dropped and counted when there is no room.
    pub(crate) fn note(&self, words: &[u64]) {
        self.introduce();
        let (capacity, head) = (self.ring.note_capacity(), self.notes_head.get());
        let used = head - self.ring.get(lane::NOTES_TAIL);
        if !self.has_half_room(words.len() as u64) {
            self.recorder.wake_drain();
        }
        if used + words.len() as u64 > capacity {
            self.drop_note();
            return;
        }
        for (position, word) in (head..).zip(words) {
            self.ring.note(position).store(*word, Relaxed);
        }
        self.notes_head.set(head + words.len() as u64);
        self.ring.set(lane::NOTES_HEAD, head + words.len() as u64);
    }

    /// Less than half of the room for notes is taken, with so many words more.
    fn has_half_room(&self, n_words: u64) -> bool {
        let used = self.notes_head.get() - self.ring.get(lane::NOTES_TAIL);
        used + n_words <= self.ring.note_capacity() / 2
    }

    /// Takes a report for a session in a flow: whether it is of a step that was reported before, as often as a step has passes.
    pub(crate) fn is_pass_of_last_step(
        &self,
        report: &Generation,
        place: (Option<u64>, u16),
    ) -> bool {
        let mut steps = self.steps();
        match report {
            Generation::Step(step) => {
                // Sessions at once; what begins anew at worst is a count.
                if steps.len() >= MAX_SESSIONS {
                    steps.clear();
                }
                let (last, repeats) = steps.entry(place).or_default();
                let here = (step.step, step.timestep.is_some());
                let is_same = step.step.is_some() && *last == here;
                let is_again = is_same && *repeats + 1 < MAX_PASSES;
                (*last, *repeats) = (here, if is_again { *repeats + 1 } else { 0 });
                is_again
            }
            // Steps of the next block are others.
            Generation::Block(_) => {
                steps.remove(&place);
                false
            }
            _ => false,
        }
    }

    fn steps(&self) -> MutexGuard<'_, LastSteps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that was recorded is in the capture.
    pub(crate) fn is_drained(&self) -> bool {
        let ring = &self.ring;
        ring.get(lane::HEAD) == ring.get(lane::TAIL)
            && ring.get(lane::NOTES_HEAD) == ring.get(lane::NOTES_TAIL)
    }

    /// Counts a note that could not be made.
    pub(crate) fn drop_note(&self) {
        self.ring.set(lane::NOTES_DROPPED, self.ring.get(lane::NOTES_DROPPED) + 1);
    }

    /// Number of the lane in its process.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Number of the thread that it is lent to, as [`crate::SectionKey`] has it.
    pub fn thread_number(&self) -> u32 {
        low(self.ring.get(lane::THREAD))
    }

    /// Notes whose lane this is, with the first thing that a thread records in a recording.
    fn introduce(&self) {
        if self.is_introduced.get() != 0 {
            return;
        }
        self.is_introduced.set(1);
        let thread = Thread { os_id: identity::this_thread(), name: identity::thread_name() };
        let note = Note::Thread(self.thread_number(), thread);
        if let Some(words) = note.encode(clock::ticks(), None) {
            self.note(&words);
        }
    }

    /// Begins at zero for a new recording. The lane's thread must not be recording.
    pub(crate) fn forget(&self) {
        let ring = &self.ring;
        for at in [
            lane::HEAD,
            lane::TAIL,
            lane::NOTES_HEAD,
            lane::NOTES_TAIL,
            lane::DROPPED,
            lane::IS_DROPPING,
            lane::NOTES_DROPPED,
        ] {
            ring.set(at, 0);
        }
        ring.clear_totals(self.histograms);
        // Without room, the next record takes the slow way, which introduces the thread.
        for own in [&self.limit, &self.notes_head, &self.is_introduced] {
            own.set(0);
        }
        self.outer.forget();
        self.steps().clear();
    }

    /// Makes the lane a sampler's: its notes are about the machine, and its thread is none of the program's.
    pub(crate) fn hand_to_sampler(&self) {
        self.ring.set(lane::THREAD, u64::from(u32::MAX));
        self.is_introduced.set(1);
    }

    /// Prepares the lane for the calling thread, which owns it from here on.
    pub(crate) fn hand_over(&self, thread: u32) {
        self.ring.set(lane::THREAD, u64::from(thread));
        self.set_current(Current::NONE);
        self.set_flow(0);
        self.is_introduced.set(0);
        self.outer.forget();
        self.steps().clear();
        self.introduce();
    }
}
