//! The shared half of a lane: what its producer writes and what the drain, or a reader after a kill, may see.
//!
//! A record is committed by its last word, then by `head`; the totals of its node follow ([`super::totals`]). A producer that
//! is killed in between leaves one record that is not in the totals, which every reader can tell and mend:
//!
//! ```text
//! record → commit → head → totals     drop: mark → dropped → totals → unmark
//!                       ^ killed here: totals lack the last record, or one drop did not happen
//! ```
//!
//! Stores become visible in program order (Release on the ones that publish), which a process that dies by a signal keeps.

use std::ops::Range;

use crate::atomics::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use super::layout::{
    HEADER_WORDS, LANE_MAGIC, LAYOUT_VERSION, LaneLayout, RARE_WORDS, RECORD_WORDS, TOTALS_WORDS,
    lane, low,
};
use crate::histogram::N_BUCKETS;

/// A record as four words: start, end, node with flow and flags, commit.
pub(crate) type Record = [u64; RECORD_WORDS];

/// The words of one lane, for producer, drain and readers alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring<'a> {
    pub(crate) header: &'a [AtomicU64; HEADER_WORDS],
    records: &'a [AtomicU64],
    notes: &'a [AtomicU64],
    totals: &'a [AtomicU64],
    rare: &'a [AtomicU64],
}

impl<'a> Ring<'a> {
    /// Lays a fresh lane out. Capacities of records and note words are powers of two.
    pub(crate) fn new(
        words: &'a [AtomicU64],
        id: u32,
        records: usize,
        note_words: usize,
        nodes: usize,
    ) -> Self {
        for (at, value) in [
            (lane::VERSION, LAYOUT_VERSION),
            (lane::LANE, u64::from(id)),
            (lane::CAP_RECORDS, records as u64),
            (lane::CAP_NOTE_WORDS, note_words as u64),
            (lane::CAP_NODES, nodes as u64),
        ] {
            words[at].store(value, Relaxed);
        }
        words[lane::MAGIC].store(LANE_MAGIC, Release);
        Self::of(words).expect("laid out just now")
    }

    /// The lane that lies in these words; `None` when they hold no lane of this version, or not all of it.
    pub(crate) fn of(words: &'a [AtomicU64]) -> Option<Self> {
        let header: &[AtomicU64; HEADER_WORDS] = words.first_chunk()?;
        let get = |at: usize| header[at].load(Acquire);
        if get(lane::MAGIC) != LANE_MAGIC || get(lane::VERSION) != LAYOUT_VERSION {
            return None;
        }
        let capacity = |at: usize| usize::try_from(get(at)).ok().filter(|n| *n <= words.len());
        let (records, note_words) = (capacity(lane::CAP_RECORDS)?, capacity(lane::CAP_NOTE_WORDS)?);
        if !records.is_power_of_two() || !note_words.is_power_of_two() {
            return None;
        }
        let layout = LaneLayout::new(records, note_words, capacity(lane::CAP_NODES)?);
        Some(Self {
            header,
            records: words.get(layout.records..layout.notes)?,
            notes: words.get(layout.notes..layout.totals)?,
            totals: words.get(layout.totals..layout.rare)?,
            rare: words.get(layout.rare..layout.end)?,
        })
    }

    /// Records the ring holds.
    pub(crate) fn capacity(&self) -> u64 {
        (self.records.len() / RECORD_WORDS) as u64
    }

    /// Note words the ring holds.
    pub(crate) fn note_capacity(&self) -> u64 {
        self.notes.len() as u64
    }

    /// Nodes that have totals.
    pub(crate) fn n_nodes(&self) -> usize {
        self.rare.len() / RARE_WORDS
    }

    /// A header word.
    pub(crate) fn get(&self, word: usize) -> u64 {
        self.header[word].load(Acquire)
    }

    /// The thread that owns the lane.
    pub(crate) fn thread(&self) -> u32 {
        u32::try_from(self.get(lane::THREAD)).unwrap_or(u32::MAX)
    }

    /// Sets a header word after everything before.
    #[inline]
    pub(crate) fn set(&self, word: usize, value: u64) {
        self.header[word].store(value, Release);
    }

    /// The words of the record at a position.
    #[inline]
    fn record_words(&self, position: u64) -> &[AtomicU64] {
        let at = place(position, self.records.len() / RECORD_WORDS) * RECORD_WORDS;
        &self.records[at..at + RECORD_WORDS]
    }

    /// Writes a record and commits it. Only the lane's producer may.
    #[inline]
    pub(crate) fn commit(&self, position: u64, start: u64, end: u64, node_flow_flags: u64) {
        let words = self.record_words(position);
        words[0].store(start, Relaxed);
        words[1].store(end, Relaxed);
        words[2].store(node_flow_flags, Relaxed);
        words[3].store(position + 1, Release);
        self.set(lane::HEAD, position + 1);
        // The totals, which follow, must not come before: see `totals`.
        fence(Release);
    }

    /// The committed record at a position; `None` when another one, or a torn one, is in its place.
    pub(crate) fn record(&self, position: u64) -> Option<Record> {
        let words = self.record_words(position);
        let commit = words[3].load(Acquire);
        let record =
            [words[0].load(Relaxed), words[1].load(Relaxed), words[2].load(Relaxed), commit];
        (commit == position.wrapping_add(1)).then_some(record)
    }

    /// The eight words of a node's totals.
    #[inline]
    pub(crate) fn totals(&self, node: usize) -> Option<&'a [AtomicU64; TOTALS_WORDS]> {
        self.totals.get(node * TOTALS_WORDS..)?.first_chunk()
    }

    /// What only some calls of a node change: start of the first, errors.
    #[inline]
    pub(crate) fn rare(&self, node: usize) -> Option<&'a [AtomicU64; RARE_WORDS]> {
        self.rare.get(node * RARE_WORDS..)?.first_chunk()
    }

    /// Copies the note words from `from` to `to` (positions) in ring order.
    pub(crate) fn note_words(&self, from: u64, to: u64) -> Vec<u64> {
        (from..to).map(|at| self.note(at).load(Relaxed)).collect()
    }

    /// Whole notes between two positions.
    pub(crate) fn n_notes(&self, from: u64, to: u64) -> u64 {
        let (mut at, mut n) = (from, 0);
        while at < to {
            at += u64::from(low(self.note(at).load(Relaxed))).max(1);
            n += 1;
        }
        n
    }

    /// One note word.
    pub(crate) fn note(&self, position: u64) -> &AtomicU64 {
        &self.notes[place(position, self.notes.len())]
    }

    /// Begins to count a call that found no room for its record; [`Self::end_drop`] follows when it is in the totals.
    #[cold]
    pub(crate) fn begin_drop(&self) {
        self.set(lane::IS_DROPPING, 1);
        self.set(lane::DROPPED, self.get(lane::DROPPED) + 1);
        fence(Release);
    }

    /// See [`Self::begin_drop`].
    #[cold]
    pub(crate) fn end_drop(&self) {
        self.set(lane::IS_DROPPING, 0);
    }

    /// Where the header and the totals of the first `n_nodes` nodes lie.
    pub(crate) fn totals_in_use(&self, n_nodes: u32) -> [Range<usize>; 3] {
        let n_nodes = (n_nodes as usize).min(self.n_nodes());
        let totals = HEADER_WORDS + self.records.len() + self.notes.len();
        let rare = totals + self.totals.len();
        [
            0..HEADER_WORDS,
            totals..totals + n_nodes * TOTALS_WORDS,
            rare..rare + n_nodes * RARE_WORDS,
        ]
    }

    /// Zeroes all totals; a node keeps its histogram, emptied. Only while the producer stands still.
    pub(crate) fn clear_totals(&self, histograms: &[AtomicU32]) {
        for words in self.totals.chunks_exact(TOTALS_WORDS) {
            let histogram = low(words[7].load(Relaxed));
            for bucket in buckets_of(histograms, histogram).unwrap_or_default() {
                bucket.store(0, Relaxed);
            }
            for word in &words[..7] {
                word.store(0, Relaxed);
            }
            words[7].store(histogram.into(), Relaxed);
        }
        for word in self.rare {
            word.store(0, Relaxed);
        }
        self.set(lane::BASE, self.get(lane::HEAD) + self.get(lane::DROPPED));
    }
}

/// The buckets of a histogram of the arena, counted from 1; `None` for 0.
#[inline]
pub(crate) fn buckets_of(histograms: &[AtomicU32], histogram: u32) -> Option<&[AtomicU32]> {
    let first = histogram.checked_sub(1)? as usize * N_BUCKETS;
    histograms.get(first..first + N_BUCKETS)
}

/// One bucket of a histogram of the arena, counted from 1; `None` for 0.
#[inline]
pub(crate) fn bucket_in_arena(
    histograms: &[AtomicU32],
    histogram: u32,
    bucket: usize,
) -> Option<&AtomicU32> {
    histograms.get(histogram.checked_sub(1)? as usize * N_BUCKETS + bucket)
}

/// Where a position lies in a ring of a power of two of places.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "only the low bits are wanted")]
fn place(position: u64, n_places: usize) -> usize {
    position as usize & (n_places - 1)
}
