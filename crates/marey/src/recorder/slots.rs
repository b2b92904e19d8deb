//! The table of sections that are open now, in shared memory: start, call path and parent of each.
//!
//! A slot belongs to whoever opened it and is written by that thread alone. What is in the table when a process dies was open.

use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

use super::layout::{ProcessLayout, SLOT_WORDS, low, process};
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
    pub const NONE: Self = Self {
        link: 0,
        node: super::layout::ROOT,
    };

    /// The same open section as parent, for a section that found no slot.
    pub(crate) fn with_node(self, node: u32) -> Self {
        Self {
            link: self.link,
            node,
        }
    }

    fn slot(self) -> Option<u32> {
        low(self.link).checked_sub(1)
    }
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
}

impl Slots {
    pub(crate) fn new(mapping: Mapping, layout: &ProcessLayout) -> Self {
        let words = mapping.words();
        Self {
            header: &words[..super::layout::HEADER_WORDS],
            words: &words[layout.slots..layout.histograms],
        }
    }

    /// `n` fresh slots for one owner: the number of the first. `None` when the table has no room for them.
    pub(crate) fn take(&self, n: u32) -> Option<u32> {
        let room = (self.words.len() / SLOT_WORDS) as u64;
        let n = u64::from(n);
        let first = self.header[process::N_SLOTS].fetch_update(Relaxed, Relaxed, |used| {
            (used + n <= room).then_some(used + n)
        });
        first.ok().and_then(|first| u32::try_from(first).ok())
    }

    #[inline]
    fn slot(&self, slot: u32) -> &[AtomicU64] {
        let at = slot as usize * SLOT_WORDS;
        &self.words[at..at + SLOT_WORDS]
    }

    /// Opens a slot under `parent`; it is the new current section.
    #[inline]
    pub(crate) fn open(
        &self,
        slot: u32,
        node: u32,
        parent: Current,
        lane_flow: u64,
        start: u64,
    ) -> Current {
        let words = self.slot(slot);
        let generation = (words[1].load(Relaxed) >> 32).wrapping_add(1) & 0xffff_ffff;
        words[1].store(generation << 32 | u64::from(node), Relaxed);
        words[2].store(parent.link, Relaxed);
        words[3].store(lane_flow, Relaxed);
        words[0].store(start, Release);
        Current {
            link: generation << 32 | u64::from(slot + 1),
            node,
        }
    }

    /// Start and node of an open slot.
    pub(crate) fn opened(&self, slot: u32) -> Option<(u64, u32)> {
        let words = self.slot(slot);
        let start = words[0].load(Relaxed);
        (start != 0).then(|| (start, low(words[1].load(Relaxed))))
    }

    /// Closes a slot: its start and node; `None` when it was not open (never entered, or opened before a fork).
    #[inline]
    pub(crate) fn close(&self, slot: u32) -> Option<(u64, u32)> {
        let words = self.slot(slot);
        let start = words[0].load(Relaxed);
        if start == 0 {
            return None;
        }
        words[0].store(0, Relaxed);
        Some((start, low(words[1].load(Relaxed))))
    }

    /// What is current once `slot` has been closed: unchanged if something else was current, otherwise its nearest ancestor
    /// that is still open.
    #[inline]
    pub(crate) fn after_close(&self, slot: u32, current: Current) -> Current {
        if current.slot() != Some(slot) {
            return self.unless_closed(slot, current);
        }
        self.nearest_open(self.slot(slot)[2].load(Relaxed))
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
        // As many turns as there can be ancestors; a damaged link cannot loop for ever.
        for _ in 0..self.words.len() / SLOT_WORDS {
            let Some(slot) = (Current { link, node: 0 }).slot() else {
                break;
            };
            let words = self.slot(slot);
            let node = words[1].load(Relaxed);
            if words[0].load(Relaxed) != 0 && node >> 32 == link >> 32 {
                return Current {
                    link,
                    node: low(node),
                };
            }
            link = words[2].load(Relaxed);
        }
        Current::NONE
    }

    /// Whether the section that `current` stands for is still open.
    pub(crate) fn is_open(&self, current: Current) -> bool {
        current.slot().is_some_and(|slot| {
            let words = self.slot(slot);
            words[0].load(Relaxed) != 0 && words[1].load(Relaxed) >> 32 == current.link >> 32
        })
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
        let layout = ProcessLayout::new(0, 0, 0, 128, 0);
        Slots::new(Mapping::private(layout.end).unwrap(), &layout)
    }

    // current:  ·  a  a>b  a>b>c   (b closes first)   c closes   a closes
    #[test]
    fn leaving_out_of_order_finds_the_nearest_open_ancestor() {
        let slots = slots();
        let first = slots.take(64).unwrap();
        let a = slots.open(first, 10, Current::NONE, 0, 100);
        let b = slots.open(first + 1, 11, a, 0, 110);
        let c = slots.open(first + 2, 12, b, 0, 120);
        assert_eq!(slots.close(first + 2), Some((120, 12)));
        assert_eq!(slots.after_close(first + 2, c), b);
        let c = slots.open(first + 2, 12, b, 0, 130);
        assert_eq!(slots.close(first + 1), Some((110, 11)));
        // c was left open inside b: what comes next belongs to a, not to c.
        assert_eq!(slots.after_close(first + 1, c), a);
        assert_eq!(slots.close(first), Some((100, 10)));
        assert_eq!(slots.after_close(first, a), Current::NONE);
        assert_eq!(slots.open_now().len(), 1);
    }

    #[test]
    fn a_reused_slot_is_not_taken_for_its_predecessor() {
        let slots = slots();
        let first = slots.take(2).unwrap();
        let old = slots.open(first, 10, Current::NONE, 0, 100);
        slots.close(first);
        slots.open(first, 20, Current::NONE, 0, 200);
        assert!(!slots.is_open(old));
        let child = slots.open(first + 1, 11, old, 0, 210);
        slots.close(first + 1);
        assert_eq!(slots.after_close(first + 1, child), Current::NONE);
    }

    #[test]
    fn closing_twice_is_harmless_and_the_table_is_finite() {
        let slots = slots();
        let first = slots.take(128).unwrap();
        assert_eq!(slots.take(1), None);
        slots.open(first, 10, Current::NONE, 0, 100);
        assert!(slots.close(first).is_some());
        assert!(slots.close(first).is_none());
    }
}
