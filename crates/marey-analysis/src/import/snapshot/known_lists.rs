//! Lists that were read before, by what fills them.

use std::collections::BTreeSet;

/// Places of the table that are looked at for one list, so that a file in which all collide is no slower.
const MAX_PROBES: usize = 8;

/// A piece of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) len: usize,
}

impl Place {
    /// Nothing where it goes beyond the input.
    pub(super) fn of(self, input: &[u8]) -> &[u8] {
        let piece = input.get(self.start..self.start + self.len);
        piece.unwrap_or_default()
    }
}

/// Lists by the opcodes that fill them.
#[derive(Debug, Default)]
pub(super) struct KnownLists {
    /// A power of two of places; each is empty or has where the opcodes are, their hash, and the list.
    slots: Vec<Option<(Place, u64, u32)>>,
    /// Those in the table: each may stand for several.
    shared: BTreeSet<u32>,
}

impl KnownLists {
    pub(super) fn new(input_bytes: usize) -> Self {
        let n = (input_bytes / 512).next_power_of_two().clamp(16, 1 << 16);
        Self { slots: vec![None; n], shared: BTreeSet::new() }
    }

    /// It stands for several lists.
    pub(super) fn is_shared(&self, list: u32) -> bool {
        self.shared.contains(&list)
    }

    fn places(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().saturating_sub(1);
        let first = usize::try_from(hash >> 32).unwrap_or(0);
        (0..MAX_PROBES).map(move |step| (first + step) & mask)
    }

    /// The list that these opcodes fill, if it is known.
    pub(super) fn find(&self, input: &[u8], here: Place, hash: u64) -> Option<u32> {
        for at in self.places(hash) {
            let (place, known, list) = (*self.slots.get(at)?)?;
            if known == hash && place.of(input) == here.of(input) {
                return Some(list);
            }
        }
        None
    }

    /// Keeps a list if there is room for it.
    pub(super) fn add(&mut self, here: Place, hash: u64, list: u32) {
        let free = self.places(hash).find(|at| matches!(self.slots.get(*at), Some(None)));
        if let Some(at) = free {
            self.slots[at] = Some((here, hash, list));
            self.shared.insert(list);
        }
    }
}
