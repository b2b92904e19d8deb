//! Encodes blocks; the layout of each is in the table of [`super`].

use super::block::{Kind, frame};
use crate::clock::Anchor;
use crate::recorder::{OpenSlot, Record, Ring, TotalsSnapshot, low};
use crate::run::Status;

/// Records of one block.
const RECORDS_PER_BLOCK: usize = 8192;
/// Words of one block of notes; a note is never longer than half of this.
const NOTE_WORDS_PER_BLOCK: usize = 1 << 14;

/// Appends encoded blocks to a buffer.
#[derive(Debug, Default)]
pub(crate) struct Encode {
    /// The blocks so far.
    pub(crate) bytes: Vec<u8>,
}

impl Encode {
    fn block(&mut self, kind: Kind, payload: &[u8]) {
        self.bytes.extend_from_slice(&frame(kind, payload));
    }

    pub(crate) fn info(&mut self, facts: &[(String, String)]) {
        let mut payload = Vec::new();
        put_u32(&mut payload, facts.len());
        for (key, value) in facts {
            put_text(&mut payload, key.as_bytes());
            put_text(&mut payload, value.as_bytes());
        }
        self.block(Kind::Info, &payload);
    }

    pub(crate) fn names(&mut self, first: u32, names: &[Vec<u8>]) {
        for (i, some) in names.chunks(4096).enumerate() {
            let mut payload = Vec::new();
            put_u32(&mut payload, first as usize + i * 4096);
            put_u32(&mut payload, some.len());
            for name in some {
                put_text(&mut payload, name);
            }
            self.block(Kind::Names, &payload);
        }
    }

    pub(crate) fn nodes(&mut self, first: u32, words: &[u64]) {
        let mut payload = Vec::new();
        put_u32(&mut payload, first as usize);
        put_u32(&mut payload, words.len());
        for word in words {
            put_u64(&mut payload, *word);
        }
        self.block(Kind::Nodes, &payload);
    }

    pub(crate) fn records(&mut self, lane: u32, thread: u32, records: &[Record]) {
        for some in records.chunks(RECORDS_PER_BLOCK) {
            let mut payload = Vec::with_capacity(16 + some.len() * 32);
            for number in [lane as usize, thread as usize, some.len(), 0] {
                put_u32(&mut payload, number);
            }
            for word in some.iter().flatten() {
                put_u64(&mut payload, *word);
            }
            self.block(Kind::Records, &payload);
        }
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
            let mut payload = Vec::with_capacity(16 + some.len() * 8);
            put_u32(&mut payload, lane as usize);
            put_u32(&mut payload, thread as usize);
            put_u64(&mut payload, position + at as u64);
            for word in some {
                put_u64(&mut payload, *word);
            }
            self.block(Kind::Notes, &payload);
            at = end;
        }
    }

    pub(crate) fn totals(&mut self, lane: u32, epoch: u64, snapshot: &TotalsSnapshot) {
        let mut payload = Vec::new();
        put_u32(&mut payload, lane as usize);
        put_u32(&mut payload, usize::try_from(epoch).unwrap_or(usize::MAX));
        put_u64(&mut payload, snapshot.head);
        put_u64(&mut payload, snapshot.dropped);
        put_u32(&mut payload, snapshot.nodes.len());
        for totals in &snapshot.nodes {
            put_u32(&mut payload, totals.node as usize);
            put_u32(&mut payload, totals.errors as usize);
            let first = [totals.count, totals.sum, totals.min, totals.max];
            let rest = [
                totals.last,
                totals.last_end,
                totals.first,
                totals.first_start,
            ];
            for number in first.into_iter().chain(rest) {
                put_u64(&mut payload, number);
            }
            match &totals.buckets {
                None => put_u32(&mut payload, u32::MAX as usize),
                Some(buckets) => {
                    put_u32(&mut payload, buckets.len());
                    for (bucket, count) in buckets {
                        put_u32(&mut payload, *bucket as usize);
                        put_u32(&mut payload, *count as usize);
                    }
                }
            }
        }
        self.block(Kind::Totals, &payload);
    }

    pub(crate) fn anchor(&mut self, anchor: Anchor) {
        let mut payload = Vec::new();
        for number in [anchor.ticks, anchor.monotonic_ns, anchor.unix_ns] {
            put_u64(&mut payload, number);
        }
        self.block(Kind::Anchor, &payload);
    }

    pub(crate) fn losses(
        &mut self,
        unrecorded: u64,
        private: u64,
        not_written: u64,
        notes_dropped: u64,
    ) {
        let mut payload = Vec::new();
        for number in [unrecorded, private, not_written, notes_dropped] {
            put_u64(&mut payload, number);
        }
        self.block(Kind::Losses, &payload);
    }

    pub(crate) fn open(&mut self, slots: &[OpenSlot]) {
        let mut payload = Vec::new();
        put_u32(&mut payload, slots.len());
        for slot in slots {
            put_u64(&mut payload, slot.start);
            put_u32(&mut payload, slot.node as usize);
            put_u32(&mut payload, slot.lane as usize);
        }
        self.block(Kind::Open, &payload);
    }

    /// How the process ended; nothing for one that is running.
    pub(crate) fn end(&mut self, status: &Status) {
        let (code, signal, reason) = match status {
            Status::Running => return,
            Status::Finished => (0, 0, ""),
            Status::Failed(reason) => (1, 0, reason.as_str()),
            Status::Killed(signal) => (2, *signal, ""),
            Status::EndedWithoutClosing => (3, 0, ""),
        };
        let mut payload = vec![code];
        payload.extend_from_slice(&signal.to_le_bytes());
        put_text(&mut payload, reason.as_bytes());
        self.block(Kind::End, &payload);
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
        let whole: Vec<Record> = (records.0..records.1)
            .filter_map(|position| ring.record(position))
            .collect();
        if !whole.is_empty() {
            self.records(lane, thread, &whole);
        }
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
