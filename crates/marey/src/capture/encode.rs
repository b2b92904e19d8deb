//! Encodes blocks; the layout of each is in the table of [`super`].

use std::borrow::Borrow;

use super::block::{Kind, begin, seal};
use super::packed::Packed;
use crate::clock::Anchor;
use crate::note::Worth;
use crate::recorder::{OpenSlot, Record, Ring, SeriesTable, TotalsSnapshot, low};
use crate::run::Status;

/// Records of one block.
pub(crate) const RECORDS_PER_BLOCK: u64 = 8192;
/// Words of one block of notes; a note is never longer than half of this.
const NOTE_WORDS_PER_BLOCK: usize = 1 << 14;
/// The lane number of time buckets that were being filled when the capture ended.
const OPEN_BUCKETS_LANE: u32 = u32::MAX - 1;

/// Appends encoded blocks to a buffer.
#[derive(Debug, Default)]
pub(crate) struct Encode {
    /// The blocks so far.
    pub(crate) bytes: Vec<u8>,
}

impl Encode {
    /// Appends a block whose payload `write` appends.
    fn block(&mut self, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) {
        let at = begin(&mut self.bytes, kind);
        write(&mut self.bytes);
        seal(&mut self.bytes, at);
    }

    pub(crate) fn info(&mut self, facts: &[(String, String)]) {
        self.block(Kind::Info, |out| {
            put_u32(out, facts.len());
            for (key, value) in facts {
                put_text(out, key.as_bytes());
                put_text(out, value.as_bytes());
            }
        });
    }

    pub(crate) fn names(&mut self, first: u32, names: &[Vec<u8>]) {
        for (i, some) in names.chunks(4096).enumerate() {
            self.block(Kind::Names, |out| {
                put_u32(out, first as usize + i * 4096);
                put_u32(out, some.len());
                for name in some {
                    put_text(out, name);
                }
            });
        }
    }

    pub(crate) fn nodes(&mut self, first: u32, words: &[u64]) {
        self.block(Kind::Nodes, |out| {
            put_u32(out, first as usize);
            put_u32(out, words.len());
            for word in words {
                put_u64(out, *word);
            }
        });
    }

    /// Records of one lane and thread, in order; a block for each stretch without a gap.
    pub(crate) fn records(
        &mut self,
        lane: u32,
        thread: u32,
        records: impl IntoIterator<Item: Borrow<Record>>,
    ) {
        let mut records = records.into_iter().peekable();
        while let Some(first) = records.peek().map(|record| record.borrow()[3]) {
            self.block(Kind::Packed, |out| {
                put_u32(out, lane as usize);
                put_u32(out, thread as usize);
                put_u64(out, first);
                let (mut packed, mut n) = (Packed::default(), 0);
                let mut is_next = |record: &Record| {
                    n += 1;
                    n <= RECORDS_PER_BLOCK && record[3] == first.wrapping_add(n - 1)
                };
                while let Some(record) = records.next_if(|record| is_next(record.borrow())) {
                    packed.push(out, record.borrow());
                }
            });
        }
    }

    /// Says that so many bytes follow which hold the last sections, written over and over.
    pub(crate) fn last(&mut self, length: u64) {
        self.block(Kind::Last, |out| put_u64(out, length));
    }

    /// Time buckets that are being filled, in a lane of their own. Once a capture.
    pub(crate) fn open_buckets(&mut self, table: &SeriesTable<'_>) {
        let notes = table.open_buckets().into_iter();
        let words: Vec<u64> =
            notes.filter_map(|(ticks, note)| note.encode(ticks, None)).flatten().collect();
        self.notes(OPEN_BUCKETS_LANE, u32::MAX, 0, &words);
    }

    /// As [`Self::notes`], without those that are worth something else. Returns how many there are.
    pub(crate) fn notes_worth(
        &mut self,
        (lane, thread): (u32, u32),
        position: u64,
        words: &[u64],
        is_wanted: impl Fn(Worth) -> bool,
    ) -> u64 {
        let (mut n, mut first, mut at) = (0, None, 0);
        while at < words.len() {
            let is_wanted = is_wanted(Worth::of(words[at]));
            n += u64::from(is_wanted);
            if !is_wanted && let Some(first) = first.take() {
                self.notes(lane, thread, position + first as u64, &words[first..at]);
            }
            if is_wanted {
                first.get_or_insert(at);
            }
            at += (low(words[at]) as usize).max(1);
        }
        if let Some(first) = first {
            self.notes(lane, thread, position + first as u64, &words[first..]);
        }
        n
    }

    /// Whole notes, as words; `position` is that of the first word in the lane's ring of notes.
    pub(crate) fn notes(&mut self, lane: u32, thread: u32, position: u64, words: &[u64]) {
        let mut at = 0;
        while at < words.len() {
            let mut end = at;
            while end < words.len() && end - at < NOTE_WORDS_PER_BLOCK {
                end += (low(words[end]) as usize).max(1);
            }
            let some = &words[at..end.min(words.len())];
            self.block(Kind::Notes, |out| {
                put_u32(out, lane as usize);
                put_u32(out, thread as usize);
                put_u64(out, position + at as u64);
                for word in some {
                    put_u64(out, *word);
                }
            });
            at = end;
        }
    }

    pub(crate) fn totals(&mut self, lane: u32, epoch: u64, snapshot: &TotalsSnapshot) {
        self.block(Kind::Totals, |out| {
            put_u32(out, lane as usize);
            put_u32(out, usize::try_from(epoch).unwrap_or(usize::MAX));
            put_u64(out, snapshot.head);
            put_u64(out, snapshot.dropped);
            put_u32(out, snapshot.nodes.len());
            for totals in &snapshot.nodes {
                put_u32(out, totals.node as usize);
                put_u32(out, totals.errors as usize);
                let first = [totals.count, totals.sum, totals.min, totals.max];
                let rest = [totals.last, totals.last_end, totals.first, totals.first_start];
                for number in first.into_iter().chain(rest) {
                    put_u64(out, number);
                }
                match &totals.buckets {
                    None => put_u32(out, u32::MAX as usize),
                    Some(buckets) => {
                        put_u32(out, buckets.len());
                        for (bucket, count) in buckets {
                            put_u32(out, *bucket as usize);
                            put_u32(out, *count as usize);
                        }
                    }
                }
            }
        });
    }

    pub(crate) fn anchor(&mut self, anchor: Anchor) {
        self.block(Kind::Anchor, |out| {
            for number in [anchor.ticks, anchor.monotonic_ns, anchor.unix_ns] {
                put_u64(out, number);
            }
        });
    }

    /// Sections unrecorded, threads in private memory, sections not written, notes dropped, children unrecorded.
    pub(crate) fn losses(&mut self, numbers: [u64; 5]) {
        self.block(Kind::Losses, |out| {
            for number in numbers {
                put_u64(out, number);
            }
        });
    }

    pub(crate) fn open(&mut self, slots: &[OpenSlot]) {
        self.block(Kind::Open, |out| {
            put_u32(out, slots.len());
            for slot in slots {
                put_u64(out, slot.start);
                put_u32(out, slot.node as usize);
                put_u32(out, slot.lane as usize);
            }
        });
    }

    /// How the process ended; nothing for one that is running.
    pub(crate) fn end(&mut self, status: &Status) {
        let (code, signal, reason) = match status {
            Status::Running => return,
            Status::Finished => (0, 0, ""),
            Status::Failed(reason) => (1, 0, reason.as_str()),
            Status::Killed(signal) => (2, *signal, ""),
            Status::EndedWithoutClosing => (3, 0, ""),
            Status::OutOfMemory(reason) => (4, 0, reason.as_str()),
        };
        self.block(Kind::End, |out| {
            out.push(code);
            out.extend_from_slice(&signal.to_le_bytes());
            put_text(out, reason.as_bytes());
        });
    }

    /// Records and whole notes of a ring between what the capture has and what was committed.
    pub(crate) fn ring(
        &mut self,
        lane: u32,
        ring: &Ring<'_>,
        records: (u64, u64),
        notes: (u64, u64),
    ) {
        let thread = ring.thread();
        let whole = (records.0..records.1).filter_map(|position| ring.record(position));
        self.records(lane, thread, whole);
        if notes.0 < notes.1 {
            self.notes(lane, thread, notes.0, &ring.note_words(notes.0, notes.1));
        }
    }
}

fn put_u32(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_u32(out, text.len());
    out.extend_from_slice(text);
}
