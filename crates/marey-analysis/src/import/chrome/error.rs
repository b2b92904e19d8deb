//! What reading a trace may take at most, and why it could not be read.

use super::gzip::Bomb;
use super::names::Full;

/// Past any of these reading ends with an error, so that no file, however made, fills the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Events that are kept.
    pub rows: usize,
    /// Bytes of everything that is kept of a file, but texts. An event with a duration takes 25, work of a device 56 more;
    /// questions take about as much again.
    pub bytes: usize,
    /// Bytes of all distinct names, and as many each of what operators say about their inputs, of threads and of categories.
    pub name_bytes: usize,
    /// Bytes of one event. A longer one is skipped and counted.
    pub event_bytes: usize,
}

impl Default for Limits {
    /// 100 million events, 1 GiB, 256 MiB of names, 16 MiB for one event.
    fn default() -> Self {
        Self { rows: 100_000_000, bytes: 1 << 30, name_bytes: 256 << 20, event_bytes: 16 << 20 }
    }
}

/// Nothing could be read, or it would take more than it may.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The source failed.
    #[error("cannot be read: {0}")]
    Io(std::io::Error),
    /// It is not JSON.
    #[error("is no JSON: it begins with {0}")]
    NotJson(String),
    /// It is compressed, and damaged or cut before its events.
    #[error("cannot be unpacked as far as its events: {0}; it is damaged, or cut")]
    Damaged(String),
    /// It is JSON, but no trace.
    #[error("has no traceEvents{}", keys(.0))]
    NoEvents(Vec<String>),
    /// It has something else where a trace has its events.
    #[error("holds no events: its traceEvents is no list")]
    EventsAreNoList,
    /// It may have been a trace; nothing of it can be read.
    #[error("holds no event that can be read: {reason} at byte {at_byte}")]
    Broken {
        /// Why the first of it could not be read.
        reason: String,
        /// Where that is, in bytes of JSON.
        at_byte: u64,
    },
    /// It is what rocprofiler-sdk writes.
    #[error(
        "is rocprofiler-sdk's own JSON, no Chrome trace; rocprofv3 --output-format pftrace or torch.profiler write others"
    )]
    Rocprofiler,
    /// It is compressed to next to nothing: its text would never end.
    #[error("is {0}: not read")]
    Expansion(String),
    /// It has more events than may be read.
    #[error("has more than {0} events")]
    Events(usize),
    /// What it says needs more memory than it may.
    #[error("needs more than {} MiB of memory: record fewer steps at once (schedule of torch.profiler), or cut it", .0 >> 20)]
    Memory(usize),
    /// Its names need more memory than they may.
    #[error("has more than {0} bytes of distinct names")]
    Names(usize),
}

impl From<Full> for ReadError {
    fn from(Full(most_bytes): Full) -> Self {
        Self::Names(most_bytes)
    }
}

fn keys(found: &[String]) -> String {
    if found.is_empty() {
        return String::new();
    }
    format!("; it has {}", found.join(", "))
}

impl ReadError {
    pub(super) fn from_io(error: std::io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Bomb>()) {
            Some(bomb) => Self::Expansion(bomb.to_string()),
            None => Self::Io(error),
        }
    }
}
