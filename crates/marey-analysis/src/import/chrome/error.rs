//! Why a trace could not be read.

use super::gzip::Bomb;

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
