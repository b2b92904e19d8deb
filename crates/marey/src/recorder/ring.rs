//! The shared half of a lane: what its producer writes and what the drain, or a reader after a kill, may see.
//!
//! A record is committed by its last word, then by `head`; the totals of its node follow. A kill can fall between any two
//! stores, so the producer first writes a *journal*: what the totals will be afterwards.
//!
//! ```text
//! journal(n+1) → record → head (or dropped) → totals → applied = n+1
//!              ^ killed here: nothing happened     ^ killed here: the journal completes the totals
//! ```
//!
//! Either way `head + dropped` equals the calls in the totals. The two fences keep the steps apart, for the compiler and for a
//! reader on another processor; on x86-64 they cost no instruction. A process that dies by a signal has done a prefix of them.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use super::layout::{
    HEADER_WORDS, LANE_MAGIC, LAYOUT_VERSION, LaneLayout, RECORD_WORDS, TOTALS_WORDS, high, lane,
    low,
};
use crate::histogram::{N_BUCKETS, bucket_of};

/// A record as four words: start, end, node with flow and flags, commit.
pub(crate) type Record = [u64; RECORD_WORDS];

/// The words of one lane, for producer, drain and readers alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring<'a> {
    pub(crate) header: &'a [AtomicU64; HEADER_WORDS],
    records: &'a [AtomicU64],
    notes: &'a [AtomicU64],
    totals: &'a [AtomicU64],
    first_starts: &'a [AtomicU64],
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
        let (records, note_words) = (
            capacity(lane::CAP_RECORDS)?,
            capacity(lane::CAP_NOTE_WORDS)?,
        );
        if !records.is_power_of_two() || !note_words.is_power_of_two() {
            return None;
        }
        let layout = LaneLayout::new(records, note_words, capacity(lane::CAP_NODES)?);
        Some(Self {
            header,
            records: words.get(layout.records..layout.notes)?,
            notes: words.get(layout.notes..layout.totals)?,
            totals: words.get(layout.totals..layout.first_starts)?,
            first_starts: words.get(layout.first_starts..layout.end)?,
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
        self.first_starts.len()
    }

    /// A header word.
    pub(crate) fn get(&self, word: usize) -> u64 {
        self.header[word].load(Acquire)
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
        // Before the totals, which follow.
        fence(Release);
    }

    /// The committed record at a position; `None` when another one, or a torn one, is in its place.
    pub(crate) fn record(&self, position: u64) -> Option<Record> {
        let words = self.record_words(position);
        let commit = words[3].load(Acquire);
        let record = [
            words[0].load(Relaxed),
            words[1].load(Relaxed),
            words[2].load(Relaxed),
            commit,
        ];
        (commit == position.wrapping_add(1)).then_some(record)
    }

    /// The eight words of a node's totals.
    #[inline]
    pub(crate) fn totals(&self, node: usize) -> Option<&'a [AtomicU64; TOTALS_WORDS]> {
        self.totals.get(node * TOTALS_WORDS..)?.first_chunk()
    }

    /// When the first call of a node began, in ticks; 0 before it ended.
    #[inline]
    pub(crate) fn first_start(&self, node: usize) -> &'a AtomicU64 {
        &self.first_starts[node]
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

    /// Counts a call that found no room for its record.
    #[inline]
    pub(crate) fn drop_record(&self) {
        self.set(lane::DROPPED, self.get(lane::DROPPED) + 1);
        fence(Release);
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
        for word in self.first_starts {
            word.store(0, Relaxed);
        }
    }
}

/// The buckets of a histogram of the arena, counted from 1; `None` for 0.
#[inline]
pub(crate) fn buckets_of(histograms: &[AtomicU32], histogram: u32) -> Option<&[AtomicU32]> {
    let first = histogram.checked_sub(1)? as usize * N_BUCKETS;
    histograms.get(first..first + N_BUCKETS)
}

/// Where a position lies in a ring of a power of two of places.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "only the low bits are wanted"
)]
fn place(position: u64, n_places: usize) -> usize {
    position as usize & (n_places - 1)
}

/// No histogram for this node: the arena is exhausted.
const NO_BUCKET: u32 = u32::MAX;

/// What one call makes of its node's totals: computed first, journalled, then applied. Applying it twice is harmless.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    node: u32,
    errors: u32,
    count: u64,
    sum: u64,
    bucket: u32,
    bucket_count: u32,
    start: u64,
    end: u64,
}

impl Change {
    /// The change by a call of `node` from `start` to `end` (ticks).
    #[inline]
    pub(crate) fn new(
        totals: &[AtomicU64; TOTALS_WORDS],
        histograms: &[AtomicU32],
        node: u32,
        (start, end): (u64, u64),
        is_failed: bool,
    ) -> Self {
        let duration = end - start;
        let histogram_errors = totals[7].load(Relaxed);
        let (bucket, bucket_count) = bucket_in_arena(low(histogram_errors), duration)
            .and_then(|at| Some((at, histograms.get(at as usize)?)))
            .map_or((NO_BUCKET, 0), |(at, count)| {
                (at, count.load(Relaxed).saturating_add(1))
            });
        Self {
            node,
            errors: high(histogram_errors).saturating_add(is_failed.into()),
            count: totals[0].load(Relaxed) + 1,
            sum: totals[1].load(Relaxed) + duration,
            bucket,
            bucket_count,
            start,
            end,
        }
    }

    /// Writes down what will be done; `applied` is the lane's count of calls afterwards.
    #[inline]
    pub(crate) fn journal(&self, ring: &Ring<'_>, applied: u64) {
        // After the totals of the call before.
        fence(Release);
        let words = &ring.header[lane::JOURNAL..lane::JOURNAL + 8];
        words[1].store(u64::from(self.node) | u64::from(self.errors) << 32, Relaxed);
        words[2].store(self.count, Relaxed);
        words[3].store(self.sum, Relaxed);
        words[4].store(
            u64::from(self.bucket) | u64::from(self.bucket_count) << 32,
            Relaxed,
        );
        words[5].store(self.start, Relaxed);
        words[6].store(self.end, Relaxed);
        words[0].store(applied, Release);
    }

    /// The journalled change and the count of calls after it.
    pub(crate) fn from_journal(words: &[u64]) -> (Self, u64) {
        let change = Self {
            node: low(words[1]),
            errors: high(words[1]),
            count: words[2],
            sum: words[3],
            bucket: low(words[4]),
            bucket_count: high(words[4]),
            start: words[5],
            end: words[6],
        };
        (change, words[0])
    }

    /// Does it.
    #[inline]
    pub(crate) fn apply(
        &self,
        totals: &[AtomicU64; TOTALS_WORDS],
        first_start: &AtomicU64,
        histograms: &[AtomicU32],
    ) {
        let duration = self.end.saturating_sub(self.start);
        if self.count == 1 {
            totals[2].store(duration, Relaxed);
            totals[6].store(duration, Relaxed);
            first_start.store(self.start, Relaxed);
        } else if duration < totals[2].load(Relaxed) {
            totals[2].store(duration, Relaxed);
        }
        if duration > totals[3].load(Relaxed) {
            totals[3].store(duration, Relaxed);
        }
        totals[4].store(duration, Relaxed);
        totals[5].store(self.end, Relaxed);
        if self.errors != 0 {
            let histogram = low(totals[7].load(Relaxed));
            totals[7].store(u64::from(histogram) | u64::from(self.errors) << 32, Relaxed);
        }
        if let Some(bucket) = histograms.get(self.bucket as usize) {
            bucket.store(self.bucket_count, Relaxed);
        }
        totals[0].store(self.count, Relaxed);
        totals[1].store(self.sum, Relaxed);
    }

    /// The node it belongs to.
    pub(crate) fn node(&self) -> usize {
        self.node as usize
    }

    /// The bucket that it counts in, within its node's histogram, and the count afterwards.
    pub(crate) fn bucket(&self) -> Option<(usize, u32)> {
        (self.bucket != NO_BUCKET).then_some((self.bucket as usize % N_BUCKETS, self.bucket_count))
    }
}

/// Index into the arena of the bucket that a duration counts in.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "there are fewer than 1000 buckets"
)]
fn bucket_in_arena(histogram: u32, duration: u64) -> Option<u32> {
    let first = histogram.checked_sub(1)?.checked_mul(N_BUCKETS as u32)?;
    first.checked_add(bucket_of(duration) as u32)
}
