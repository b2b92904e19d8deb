//! What was read of a trace, and what was not.

use std::collections::BTreeMap;

use serde::Serialize;

/// Counts of everything that was met while reading. A report says them, so that nobody takes a part for the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Quality {
    /// Bytes of JSON.
    pub n_bytes: u64,
    /// Documents, one after another in one file.
    pub n_documents: u64,
    /// Events, of every kind.
    pub n_events: u64,
    /// How many of each phase: `X` have a duration, `i` are moments, `M` say names, `s` and `f` are arrows.
    pub n_by_phase: BTreeMap<String, u64>,
    /// Stretches of the file that could not be read as events.
    pub n_broken: u64,
    /// How long they are together.
    pub n_bytes_broken: u64,
    /// The first of them.
    pub broken: Vec<Broken>,
    /// The text ends within the list of events: whoever wrote it was killed, or the file is cut.
    pub is_truncated: bool,
    /// What is wrong with the compressed data; what came before it was read.
    pub damage: Option<String>,
    /// Events that only the general reader understood.
    pub n_unusual: u64,
    /// Events that should have a time or a duration and have none, or a time of 0 where most are absolute. They are left out.
    pub n_without_time: u64,
    /// Events whose times were taken for whole nanoseconds, since as microseconds they would be after the year 2262. All others were
    /// taken for microseconds, which is what the format says.
    pub n_in_nanoseconds: u64,
    /// Rows that would last more than a year, are further than that from most others, or end after the last moment that 64 bits of
    /// nanoseconds hold; they are left out.
    pub n_out_of_range: u64,
    /// Durations below zero; they are taken for zero.
    pub n_negative_durations: u64,
    /// Events that began and did not end.
    pub n_open: u64,
    /// Ends of what did not begin.
    pub n_without_begin: u64,
    /// Allocations and releases that do not say how many bytes; they are left out.
    pub n_without_bytes: u64,
    /// Rows of devices whose work is not understood, by category: `mtia_ccp_events`. They are in no answer.
    pub n_not_analysed: BTreeMap<String, u64>,
    /// Names with bytes that are no text.
    pub n_damaged_names: u64,
    /// Rows of the host that lie in more than 4,096 others, of which only the nearest are asked whose a row is. Counted when
    /// questions are answered.
    pub n_too_deep: u64,
}

/// A stretch that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Broken {
    /// Where it begins in the JSON, in bytes.
    pub at_byte: u64,
    /// Why it could not be read.
    pub reason: String,
    /// How it begins.
    pub text: String,
}

/// Examples that are kept.
const MOST_EXAMPLES: usize = 5;

/// Bytes of an example.
const LONGEST_EXAMPLE: usize = 160;

impl Quality {
    pub(super) fn add_broken(&mut self, at_byte: u64, reason: &str, bytes: &[u8]) {
        self.n_broken += 1;
        if self.broken.len() < MOST_EXAMPLES {
            let beginning = bytes.get(..LONGEST_EXAMPLE).unwrap_or(bytes);
            self.broken.push(Broken {
                at_byte,
                reason: reason.to_owned(),
                text: String::from_utf8_lossy(beginning).into_owned(),
            });
        }
    }
}
