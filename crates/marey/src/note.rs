//! Notes: everything recorded that is not a section, as variable-length records of 64-bit words.
//!
//! | word | content |
//! |---|---|
//! | 0 | number of words, this one included · kind « 32 · flow « 40 · belongs to a session « 63 |
//! | 1 | time in ticks |
//! | 2 | number of the session, if it belongs to one |
//! | 2.. or 3.. | payload bytes, padded with zeros |
//!
//! In the payload a *text* is its length in bytes (u32) and the bytes; a *value* is a tag (0 bool, 1 i64, 2 f64, 3 text) and its
//! content; *attributes* are their number (u16), then text and value of each; *optional* numbers are a flag byte and the number.
//!
//! | kind | payload |
//! |---|---|
//! | 1 thread | thread u32 · OS thread id u32 · name |
//! | 2 section attributes | node u32 · start in ticks u64 · attributes |
//! | 3 event | name · attributes |
//! | 4 memory | source u32 (0 process, 1 torch CUDA) · device u32 · has label u8 · label · allocated u64 · reserved? u64 · peak? u64 |
//! | 5 counter | name · f64 |
//! | 6 cache | cache · outcome u8 (0 hit, 1 miss, 2 eviction, 3 lookup) · step? u64 · block? u64 · score? f64 · threshold? f64 · held? u64 · attributes |
//! | 7 session start | session u64 · name · tags · flow u16; belongs to the session that it is nested in |
//! | 8 session end | session u64 · outcome u8 (0 done, 1 failed, 2 cut off) · what [`Resources`] has, if it was read; the first captures have neither |
//! | 9 series | group u32 · number in the group u32 · unit u8 (order of [`crate::Unit`]) · kind u8 (0 gauge, 1 cumulative) · name · subject |
//! | 10 samples | group u32 · first series u32 · rounds u32 · bucket's start u64 · its width u64 · first round u64 (ticks) · n u16 · n values |
//! | 11 unavailable | what · why |
//! | 12 fact | key · value |
//! | 13 generation | code u8 (order of [`Generation`]) · its fields |
//! | 14 window | number u64 · code u8 (order of [`WindowChange`]) · its fields |
//! | 15 GPU span | thread u32 · node u32 · start in ticks u64 · device u32 · stream u64 · delay? u64 · length u64 · error? u64 (ns) |
//! | 16 section memory | thread u32 · node u32 · start in ticks u64 · device u32 · allocated before, after, peak u64 · reserved before, after, peak u64 · inactive split? u64 |
//! | 17 section resources | thread u32 · node u32 · start in ticks u64 · what [`Resources`] has |
//! | 18 session work | start in ticks u64 · is over u8 · flow u16; of the session that the note belongs to |
//!
//! A value of samples is an f64 (NaN: absent) when there was one round, else count u32 · min · max · sum · last. The time of the note is
//! that of the last round.

mod payload;
mod samples;

use crate::device_work::{DeviceMemory, GpuSpan, SectionKey};
use crate::generation::Generation;
use crate::resources::Resources;
use crate::run::{CacheEvent, CounterReading, Event, MemoryReading, Outcome, Session, Thread};
use crate::series::{SeriesInfo, Unavailable};
use crate::value::Attributes;
use crate::window::WindowChange;
use crate::wire::{Decoder, Wire, wire};
pub use samples::{Readings, Samples};

/// Longest note, in bytes of payload; a longer one is not recorded and counted as dropped.
pub(crate) const MAX_NOTE_BYTES: usize = 32 << 10;
/// What a note is worth when there is no room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    /// As much as the section that it belongs to.
    OfSection,
    /// A reading, an event, a decision: kept longer than sections.
    Reading,
    /// Without it others mean nothing, or less: sessions, threads, what a sampler's series are, what the program generated, windows.
    Frame,
}

impl Worth {
    /// Of the note whose first word this is.
    pub(crate) fn of(first_word: u64) -> Self {
        match first_word >> KIND & 0xff {
            // What a section used (17) counts for its call path, whether its record is there or not.
            2 | 15 | 16 | 18 => Self::OfSection,
            1 | 7..=9 | 11..=14 => Self::Frame,
            _ => Self::Reading,
        }
    }
}

/// In the first word: the third one is the number of a session.
const HAS_SESSION: u64 = 1 << 63;
/// In the first word: the kind, of one byte.
const KIND: u32 = 32;
/// In the first word: the flow in which it was noted, of two bytes, where that is known; as in [`crate::Section::flow`].
const FLOW: u32 = 40;

/// A note without its time.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A thread began to record: its number in the process, and what it is.
    Thread(u32, Thread),
    /// Attributes of the section of a node that began at `start_ticks` in this lane.
    SectionAttributes {
        /// The section's node.
        node: u32,
        /// When it began.
        start_ticks: u64,
        /// The attributes.
        attributes: Attributes,
    },
    /// A point in time with a name, without its time, its thread and its session, which are the note's. So are those of what follows.
    Event(Event),
    /// A memory reading.
    Memory(MemoryReading),
    /// A reading of a counter.
    Counter(CounterReading),
    /// A decision of a cache.
    Cache(CacheEvent),
    /// A session began, in the session that the note belongs to.
    SessionStart(Session),
    /// A session ended.
    SessionEnd {
        /// Number in the process.
        session: u64,
        /// How.
        outcome: Outcome,
        /// What the process used meanwhile.
        used: Option<Resources>,
    },
    /// A sampler has this series.
    Series {
        /// Number of the sampler.
        group: u32,
        /// Number of the series there.
        index: u32,
        /// What it measures.
        info: SeriesInfo,
    },
    /// Readings of a sampler's series.
    Samples(Samples),
    /// Something that could be measured is not.
    Unavailable(Unavailable),
    /// Something worth knowing about the machine.
    Fact {
        /// What.
        key: String,
        /// How it is.
        value: String,
    },
    /// What a generating program reports.
    Generation(Generation),
    /// Something happened to a window.
    Window {
        /// Its number in the process.
        window: u64,
        /// What.
        change: WindowChange,
    },
    /// What a GPU did for a section, whose place is the key.
    GpuSpan(SectionKey, GpuSpan),
    /// What a section did to torch's memory.
    SectionMemory(SectionKey, DeviceMemory),
    /// What a section used.
    SectionResources(SectionKey, Resources),
    /// This thread worked for the note's session, which was begun elsewhere.
    SessionWork {
        /// Since when.
        start_ticks: u64,
        /// It does so no more; otherwise from now on, as long as the session lasts.
        is_over: bool,
        /// The flow in which it did, as in [`crate::Section::flow`].
        flow: u16,
    },
}

// The kind, which goes into the first word, and the payload.
wire! {
    enum Note {
        1 Thread(number, thread),
        2 SectionAttributes { node, start_ticks, attributes },
        3 Event(event),
        4 Memory(reading),
        5 Counter(reading),
        6 Cache(event),
        7 SessionStart(session),
        8 SessionEnd { session, outcome, used },
        9 Series { group, index, info },
        10 Samples(samples),
        11 Unavailable(what),
        12 Fact { key, value },
        13 Generation(generation),
        14 Window { window, change },
        15 GpuSpan(section, span),
        16 SectionMemory(section, figures),
        17 SectionResources(section, used),
        18 SessionWork { start_ticks, is_over, flow = 0 },
    }
}

/// A note as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Noted {
    /// When.
    pub(crate) ticks: u64,
    /// Number of the session that it belongs to.
    pub(crate) session: Option<u64>,
    /// The flow in which it was noted; 0 for the thread's own stack, and where it is not known.
    pub(crate) flow: u16,
    /// The note; `None` if its kind is unknown or its payload makes no sense.
    pub(crate) note: Option<Note>,
    /// Words that it takes.
    pub(crate) n_words: usize,
}

impl<T: Into<Generation>> From<T> for Note {
    fn from(said: T) -> Self {
        Self::Generation(said.into())
    }
}

impl From<CacheEvent> for Note {
    fn from(event: CacheEvent) -> Self {
        Self::Cache(event)
    }
}

impl From<MemoryReading> for Note {
    fn from(reading: MemoryReading) -> Self {
        Self::Memory(reading)
    }
}

impl Note {
    /// A point in time with a name.
    pub fn event(name: impl Into<String>, attributes: Attributes) -> Self {
        Self::Event(Event { name: name.into(), attributes, ..Event::default() })
    }

    /// A reading of a counter.
    pub fn counter(name: impl Into<String>, value: f64) -> Self {
        Self::Counter(CounterReading { name: name.into(), value, ..CounterReading::default() })
    }

    /// Something that could be measured is not.
    pub fn unavailable(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unavailable(Unavailable { what: what.into(), why: why.into() })
    }

    /// The words of the note at a time; `None` when it is longer than a note may be.
    pub(crate) fn encode(&self, ticks: u64, session: Option<u64>) -> Option<Vec<u64>> {
        let mut bytes = Vec::with_capacity(64);
        self.put(&mut bytes);
        let (&kind, payload) = bytes.split_first()?;
        if payload.len() > MAX_NOTE_BYTES {
            return None;
        }
        let n_words = 2 + usize::from(session.is_some()) + payload.len().div_ceil(8);
        let mut words = Vec::with_capacity(n_words);
        let has_session = if session.is_some() { HAS_SESSION } else { 0 };
        words.push(n_words as u64 | u64::from(kind) << KIND | has_session);
        words.push(ticks);
        words.extend(session);
        words.extend(payload.chunks(8).map(|chunk| {
            let mut padded = [0; 8];
            padded[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(padded)
        }));
        Some(words)
    }

    /// As [`Self::encode`], for what was noted in a flow.
    pub(crate) fn encode_in(
        &self,
        flow: u16,
        ticks: u64,
        session: Option<u64>,
    ) -> Option<Vec<u64>> {
        let mut words = self.encode(ticks, session)?;
        words[0] |= u64::from(flow) << FLOW;
        Some(words)
    }

    /// The note at the front of `words`; `None` when no whole one is there.
    pub(crate) fn decode(words: &[u64]) -> Option<Noted> {
        let (&head, rest) = words.split_first()?;
        let has_session = head & HAS_SESSION != 0;
        let n_words = usize::try_from(head & 0xffff_ffff).ok()?;
        let n_before = 2 + usize::from(has_session);
        if n_words < n_before || n_words > words.len() {
            return None;
        }
        let mut bytes = vec![(head >> KIND & 0xff) as u8];
        bytes.extend(words[n_before..n_words].iter().flat_map(|w| w.to_le_bytes()));
        Some(Noted {
            ticks: rest[0],
            session: has_session.then(|| rest[1]),
            flow: (head >> FLOW & 0xffff) as u16,
            note: Self::take(&mut Decoder::new(&bytes)),
            n_words,
        })
    }
}

#[cfg(test)]
mod tests;
