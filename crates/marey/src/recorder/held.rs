//! What is on its way from a ring to the capture.

use super::ring::Ring;
use super::room::Counts;
use crate::capture::{Encode, RECORDS_PER_BLOCK};
use crate::note::Worth;

/// What a ring holds that the capture does not.
pub(super) struct Held<'a> {
    pub(super) lane: u32,
    pub(super) ring: &'a Ring<'a>,
    /// Positions in the ring, the first and the one past the last; so for the words of notes.
    pub(super) records: (u64, u64),
    pub(super) notes: (u64, u64),
}

impl Held<'_> {
    pub(super) fn counts(&self) -> Counts {
        Counts {
            sections: self.records.1 - self.records.0,
            notes: self.ring.n_notes(self.notes.0, self.notes.1),
        }
    }

    /// In pieces of one block of records, so that each goes where there is room for it; the notes with the last one.
    pub(super) fn pieces(self) -> impl Iterator<Item = Self> {
        let ((from, to), (notes_from, notes_to)) = (self.records, self.notes);
        let n = (to - from).div_ceil(RECORDS_PER_BLOCK).max(1);
        (1..=n).map(move |place| {
            let until = from + place * RECORDS_PER_BLOCK;
            Self {
                records: (until - RECORDS_PER_BLOCK, until.min(to)),
                notes: (notes_from, if place == n { notes_to } else { notes_from }),
                ..self
            }
        })
    }

    /// Notes of that worth; how many.
    pub(super) fn notes_worth(&self, encode: &mut Encode, worth: Worth) -> u64 {
        let words = self.ring.note_words(self.notes.0, self.notes.1);
        encode.bytes.clear();
        let thread = self.ring.thread();
        encode.notes_worth((self.lane, thread), self.notes.0, &words, |of| of == worth)
    }
}
