//! The table of sections that are open now, in shared memory: start, call path and parent of each.
//!
//! A slot belongs to whoever opened it and is written by that thread alone. What is in the table when a process dies was open.

#![expect(
    clippy::inline_always,
    reason = "every recorded section does this, from other crates too"
)]

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::layout::{ProcessLayout, SLOT_WORDS, high, low, process};
use super::mapping::Mapping;

/// The open section that a new one goes under, or none. Packs slot and generation, so that a reused slot is not mistaken for its
/// predecessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// Slot + 1 in the low half, its generation in the high half; 0 means no section is open.
    pub(crate) link: u64,
    /// The node that children go under.
    pub(crate) node: u32,
}

impl Current {
    /// No section is open.
    pub const NONE: Self = Self { link: 0, node: super::layout::ROOT };

    /// The node that children go under.
    pub fn node(self) -> u32 {
        self.node
    }

    /// The same open section as parent, for a section that found no slot.
    pub(crate) fn with_node(self, node: u32) -> Self {
        Self { link: self.link, node }
    }

    /// Whether this is what was opened in `slot` last.
    pub fn is_in(self, slot: Slot) -> bool {
        self.slot() == Some(slot.number)
    }

    fn slot(self) -> Option<u32> {
        low(self.link).checked_sub(1)
    }
}

/// A place in the table of open sections. Its owner opens and closes it.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    words: &'static [AtomicU64; SLOT_WORDS],
    number: u32,
}

/// Slots of one recorder. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    header: &'static [AtomicU64],
    words: &'static [AtomicU64],
}

/// An open section as the table has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenSlot {
    pub(crate) start: u64,
    pub(crate) node: u32,
    pub(crate) lane: u32,
    /// 0 for the thread's own stack.
    pub(crate) flow: u32,
}

impl Slot {
    /// Its place in the table.
    #[inline(always)]
    pub(crate) fn number(self) -> u32 {
        self.number
    }

    /// Opens the slot under `parent`; it is the new current section.
    #[inline(always)]
    pub(crate) fn open(self, node: u32, parent: Current, lane_flow: u64, start: u64) -> Current {
        let words = self.words;
        // The generation is the high half, so that it wraps by itself.
        let generation = (words[1].load(Relaxed) >> 32).wrapping_add(1) << 32;
        words[1].store(generation | u64::from(node), Relaxed);
        words[2].store(parent.link, Relaxed);
        words[3].store(lane_flow, Relaxed);
        words[0].store(start, Release);
        Current { link: generation | u64::from(self.number + 1), node }
    }

    /// Start and node of what is open in the slot.
    #[inline(always)]
    pub(crate) fn opened(self) -> Option<(u64, u32)> {
        let start = self.words[0].load(Relaxed);
        (start != 0).then(|| (start, low(self.words[1].load(Relaxed))))
    }

    /// Closes the slot: its start and node; `None` when it was not open (never entered, or opened before a fork).
    #[inline(always)]
    pub(crate) fn close(self) -> Option<(u64, u32)> {
        let opened = self.opened()?;
        self.words[0].store(0, Relaxed);
        Some(opened)
    }
}

impl Slots {
    pub(crate) fn new(mapping: Mapping, layout: &ProcessLayout) -> Self {
        let words = mapping.words();
        Self {
            header: &words[..super::layout::HEADER_WORDS],
            words: &words[layout.slots..layout.groups],
        }
    }

    /// `n` fresh slots for one owner: the number of the first. `None` when the table has no room for them.
    pub(crate) fn take(&self, n: u32) -> Option<u32> {
        let room = (self.words.len() / SLOT_WORDS) as u64;
        let n = u64::from(n);
        let first = self.header[process::N_SLOTS]
            .fetch_update(Relaxed, Relaxed, |used| (used + n <= room).then_some(used + n));
        first.ok().and_then(|first| u32::try_from(first).ok())
    }

    #[inline]
    fn slot(&self, slot: u32) -> &[AtomicU64] {
        let at = slot as usize * SLOT_WORDS;
        &self.words[at..at + SLOT_WORDS]
    }

    /// The slot of a number that [`Self::take`] gave.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> Option<Slot> {
        let words = self.words.get(number as usize * SLOT_WORDS..)?.first_chunk()?;
        Some(Slot { words, number })
    }

    /// What is current once `slot` has been closed: unchanged if something else was current, otherwise its nearest ancestor
    /// that is still open.
    #[inline(always)]
    pub(crate) fn after_close(&self, slot: Slot, current: Current) -> Current {
        if low(current.link) != slot.number + 1 {
            return self.unless_closed(slot.number, current);
        }
        let parent = slot.words[2].load(Relaxed);
        if parent == 0 {
            return Current::NONE;
        }
        self.nearest_open(parent)
    }

    /// `slot` was closed out of order. If it is an ancestor of `current`, what lies between them was left open (a suspended
    /// generator, or a leak) and must not adopt later sections.
    #[cold]
    fn unless_closed(&self, slot: u32, current: Current) -> Current {
        let mut link = current.link;
        for _ in 0..64 {
            let Some(at) = (Current { link, node: 0 }).slot() else {
                break;
            };
            if at == slot {
                return self.nearest_open(self.slot(slot)[2].load(Relaxed));
            }
            link = self.slot(at)[2].load(Relaxed);
        }
        current
    }

    #[inline]
    fn nearest_open(&self, mut link: u64) -> Current {
        // As many iterations as there can be ancestors; a damaged link cannot loop for ever.
        for _ in 0..self.words.len() / SLOT_WORDS {
            let Some(slot) = (Current { link, node: 0 }).slot() else {
                break;
            };
            let words = self.slot(slot);
            let node = words[1].load(Relaxed);
            if words[0].load(Relaxed) != 0 && node >> 32 == link >> 32 {
                return Current { link, node: low(node) };
            }
            link = words[2].load(Relaxed);
        }
        Current::NONE
    }

    /// When the section that `current` stands for began; `None` when there is none.
    pub(crate) fn start_of(&self, current: Current) -> Option<u64> {
        let start = self.slot(current.slot()?)[0].load(Relaxed);
        (start != 0).then_some(start)
    }

    /// Whether the section that `current` stands for is still open.
    pub(crate) fn is_open(&self, current: Current) -> bool {
        current.slot().is_some_and(|slot| {
            let words = self.slot(slot);
            words[0].load(Relaxed) != 0 && words[1].load(Relaxed) >> 32 == current.link >> 32
        })
    }

    /// Closes all of them, for whoever has them open.
    pub(crate) fn close_all(&self) {
        for words in self.words.chunks_exact(SLOT_WORDS) {
            if words[0].load(Relaxed) != 0 {
                words[0].store(0, Relaxed);
            }
        }
    }

    /// All open slots, by start.
    pub(crate) fn open_now(&self) -> Vec<OpenSlot> {
        open_slots(self.words)
    }
}

/// The open slots among the words of a slot table, by start.
pub(crate) fn open_slots(words: &[AtomicU64]) -> Vec<OpenSlot> {
    let mut open: Vec<OpenSlot> = words
        .chunks_exact(SLOT_WORDS)
        .filter_map(|words| {
            let start = words[0].load(Acquire);
            (start != 0).then(|| OpenSlot {
                start,
                node: low(words[1].load(Relaxed)),
                lane: low(words[3].load(Relaxed)),
                flow: high(words[3].load(Relaxed)),
            })
        })
        .collect();
    open.sort_by_key(|slot| slot.start);
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> Slots {
        let layout = ProcessLayout::new([0, 0, 0, 128, 0, 0]);
        Slots::new(Mapping::private(layout.end).unwrap(), &layout)
    }

    // current:  ·  a  a>b  a>b>c   (b closes first)   c closes   a closes
    #[test]
    fn leaving_out_of_order_finds_the_nearest_open_ancestor() {
        let slots = slots();
        let first = slots.take(64).unwrap();
        let a = slots.at(first).unwrap().open(10, Current::NONE, 0, 100);
        let b = slots.at(first + 1).unwrap().open(11, a, 0, 110);
        let c = slots.at(first + 2).unwrap().open(12, b, 0, 120);
        assert_eq!(slots.at(first + 2).unwrap().close(), Some((120, 12)));
        assert_eq!(slots.after_close(slots.at(first + 2).unwrap(), c), b);
        let c = slots.at(first + 2).unwrap().open(12, b, 0, 130);
        assert_eq!(slots.at(first + 1).unwrap().close(), Some((110, 11)));
        // c was left open inside b: what comes next belongs to a, not to c.
        assert_eq!(slots.after_close(slots.at(first + 1).unwrap(), c), a);
        assert_eq!(slots.at(first).unwrap().close(), Some((100, 10)));
        assert_eq!(slots.after_close(slots.at(first).unwrap(), a), Current::NONE);
        assert_eq!(slots.open_now().len(), 1);
    }

    #[test]
    fn a_reused_slot_is_not_taken_for_its_predecessor() {
        let slots = slots();
        let first = slots.take(2).unwrap();
        let old = slots.at(first).unwrap().open(10, Current::NONE, 0, 100);
        slots.at(first).unwrap().close();
        slots.at(first).unwrap().open(20, Current::NONE, 0, 200);
        assert!(!slots.is_open(old));
        let child = slots.at(first + 1).unwrap().open(11, old, 0, 210);
        slots.at(first + 1).unwrap().close();
        assert_eq!(slots.after_close(slots.at(first + 1).unwrap(), child), Current::NONE);
    }

    #[test]
    fn closing_twice_is_harmless_and_the_table_is_finite() {
        let slots = slots();
        let first = slots.take(128).unwrap();
        assert_eq!(slots.take(1), None);
        slots.at(first).unwrap().open(10, Current::NONE, 0, 100);
        assert!(slots.at(first).unwrap().close().is_some());
        assert!(slots.at(first).unwrap().close().is_none());
    }
}
