//! Encodes blocks; the layout of each is in the table of [`super`].

use std::borrow::Borrow;

use super::block::{Kind, begin, seal};
use super::packed::Packed;
use crate::clock::Anchor;
use crate::note::Worth;
use crate::recorder::{OpenSlot, Record, Ring, SeriesTable, TotalsSnapshot, low};
use crate::run::Status;
use crate::wire::{Wire, put_bytes, put_length};

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
            put_length(facts.len(), out);
            for (key, value) in facts {
                put_bytes(key.as_bytes(), out);
                put_bytes(value.as_bytes(), out);
            }
        });
    }

    pub(crate) fn names(&mut self, first: u32, names: &[Vec<u8>]) {
        for (i, some) in names.chunks(4096).enumerate() {
            self.block(Kind::Names, |out| {
                put_length(first as usize + i * 4096, out);
                put_length(some.len(), out);
                for name in some {
                    put_bytes(name, out);
                }
            });
        }
    }

    pub(crate) fn nodes(&mut self, first: u32, words: &[u64]) {
        self.block(Kind::Nodes, |out| {
            first.put(out);
            put_length(words.len(), out);
            for word in words {
                word.put(out);
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
                lane.put(out);
                thread.put(out);
                first.put(out);
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
        self.block(Kind::Last, |out| length.put(out));
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
                lane.put(out);
                thread.put(out);
                (position + at as u64).put(out);
                for word in some {
                    word.put(out);
                }
            });
            at = end;
        }
    }

    pub(crate) fn totals(&mut self, lane: u32, epoch: u64, snapshot: &TotalsSnapshot) {
        self.block(Kind::Totals, |out| {
            lane.put(out);
            put_length(usize::try_from(epoch).unwrap_or(usize::MAX), out);
            snapshot.head.put(out);
            snapshot.dropped.put(out);
            put_length(snapshot.nodes.len(), out);
            for totals in &snapshot.nodes {
                totals.put(out);
            }
        });
    }

    pub(crate) fn anchor(&mut self, anchor: Anchor) {
        self.block(Kind::Anchor, |out| anchor.put(out));
    }

    /// Sections unrecorded, threads in private memory, sections not written, notes dropped, children unrecorded.
    pub(crate) fn losses(&mut self, numbers: [u64; 5]) {
        self.block(Kind::Losses, |out| {
            for number in numbers {
                number.put(out);
            }
        });
    }

    pub(crate) fn open(&mut self, slots: &[OpenSlot]) {
        self.block(Kind::Open, |out| {
            put_length(slots.len(), out);
            for slot in slots {
                slot.start.put(out);
                slot.node.put(out);
                slot.lane.put(out);
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
            signal.cast_unsigned().put(out);
            put_bytes(reason.as_bytes(), out);
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
