//! Encodes blocks; the layout of each is in the table of [`super`].

use std::borrow::Borrow;

use super::block::{Kind, begin, seal};
use crate::clock::Anchor;
use crate::recorder::{OpenSlot, Record, Ring, SeriesTable, TotalsSnapshot, low};
use crate::run::Status;

/// Records of one block.
const RECORDS_PER_BLOCK: usize = 8192;
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

    /// Records of one lane and thread, in order.
    pub(crate) fn records(
        &mut self,
        lane: u32,
        thread: u32,
        records: impl IntoIterator<Item: Borrow<Record>>,
    ) {
        let mut records = records.into_iter().peekable();
        while records.peek().is_some() {
            self.block(Kind::Records, |out| {
                put_u32(out, lane as usize);
                put_u32(out, thread as usize);
                let n_at = out.len();
                put_u64(out, 0);
                let mut n = 0_u32;
                for record in records.by_ref().take(RECORDS_PER_BLOCK) {
                    out.extend_from_slice(&record_bytes(record.borrow()));
                    n += 1;
                }
                out[n_at..n_at + 4].copy_from_slice(&n.to_le_bytes());
            });
        }
    }

    /// Time buckets that are being filled, in a lane of their own. Once a capture.
    pub(crate) fn open_buckets(&mut self, table: &SeriesTable<'_>) {
        let notes = table.open_buckets().into_iter();
        let words: Vec<u64> = notes
            .filter_map(|(ticks, note)| note.encode(ticks, None))
            .flatten()
            .collect();
        self.notes(OPEN_BUCKETS_LANE, u32::MAX, 0, &words);
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
                let rest = [
                    totals.last,
                    totals.last_end,
                    totals.first,
                    totals.first_start,
                ];
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

    pub(crate) fn losses(
        &mut self,
        unrecorded: u64,
        private: u64,
        not_written: u64,
        notes_dropped: u64,
    ) {
        self.block(Kind::Losses, |out| {
            for number in [unrecorded, private, not_written, notes_dropped] {
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
        use crate::recorder::lane_words::THREAD;
        let thread = u32::try_from(ring.get(THREAD)).unwrap_or(u32::MAX);
        let whole = (records.0..records.1).filter_map(|position| ring.record(position));
        self.records(lane, thread, whole);
        if notes.0 < notes.1 {
            self.notes(lane, thread, notes.0, &ring.note_words(notes.0, notes.1));
        }
    }
}

/// A record's words in one piece, because it is what most of a capture is made of.
fn record_bytes(record: &Record) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, word) in bytes.chunks_exact_mut(8).zip(record) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
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
