//! Dumps of torch's flight recorder: the newest calls of collectives of one rank, which torch writes when one of them does not end.
//!
//! ```text
//! nccl_trace_rank_3   a pickle ─► snapshot/machine.rs ─► Values ─► pickled.rs ─╮
//!                     or JSON ─────────────────────────────────────────────────┴─► dump_layout.rs ─► FlightDump
//! ```
//!
//! Pickles are read as those of memory snapshots are: nothing of them is executed.

mod dump_layout;
mod pickled;

use serde::{Deserialize, Serialize};

use super::snapshot::record::Record;
use super::snapshot::{SnapshotError, pickle};

/// What the flight recorder of a process knew. Texts are as they were in the process; not safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlightDump {
    /// The rank that it says; torch's own dumps say none.
    pub rank: Option<u32>,
    /// Its groups, by name; at most [`FlightDump::MAX_GROUPS`].
    pub groups: Vec<GroupCalls>,
    /// Nothing that it recorded was overwritten: a call that it does not have was not made.
    pub is_whole: bool,
    /// The last moment that any of its calls tells of, nanoseconds since 1970.
    pub last_unix_ns: Option<u64>,
    /// Calls that could not be used.
    pub n_unusable: u64,
}

/// What a process called in one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupCalls {
    /// Its name: a number as a rule.
    pub name: String,
    /// What it is for: `default_pg`, `mesh_tp`; empty when not known.
    pub purpose: String,
    /// Its ranks, ascending; at most [`FlightDump::MAX_MEMBERS`]. Empty when not known.
    pub members: Vec<u32>,
    /// Number of the last call that it made, 0 before the first; `None` when the dump does not say.
    pub last_made: Option<u64>,
    /// Number of the first call that has not ended, where only its status says so: the recorder has overwritten the call.
    #[serde(default)]
    pub lost: Option<u64>,
    /// Those around the first that has not ended, or the last ones, by number; at most [`FlightDump::MAX_CALLS`].
    pub calls: Vec<GroupCall>,
    /// Messages between its ranks, by name.
    pub messages: Vec<Messages>,
}

/// Messages of one direction between two ranks of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// `send 0->1`, `recv 1<-0`: by their numbers within the group.
    pub name: String,
    /// How many there are.
    pub count: u64,
    /// Those before the first that has not ended.
    pub n_ended: u64,
    /// That one.
    pub open: Option<GroupCall>,
}

/// One call of a collective.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupCall {
    /// Which call of its group, from 1.
    pub number: u64,
    /// The collective: `all_reduce`.
    pub name: String,
    /// What it was given: `1024 BFloat16`; empty when not known.
    pub input: String,
    /// It has ended.
    pub has_ended: bool,
    /// Its kernel has started; `None` where the recorder was not asked for that (`TORCH_NCCL_ENABLE_TIMING`).
    pub has_started: Option<bool>,
    /// Which of all calls of the process, in the order in which it made them.
    #[serde(default)]
    pub record: Option<u64>,
    /// When it was made, nanoseconds since 1970.
    pub made_unix_ns: Option<u64>,
    /// After so long torch gives it up.
    pub timeout_ns: Option<u64>,
    /// Where in the program: `load_lora (run.py:43)`; of torch itself only where there is nothing else.
    pub place: Option<String>,
}

impl FlightDump {
    /// Groups that are kept.
    pub const MAX_GROUPS: usize = 256;
    /// Ranks of a group that are kept.
    pub const MAX_MEMBERS: usize = 65_536;
    /// Calls of a group that are kept.
    pub const MAX_CALLS: usize = 64;
}

impl FlightDump {
    /// It has calls, or says that there were none.
    pub fn says_something(&self) -> bool {
        self.is_whole || self.last_unix_ns.is_some()
    }

    /// The first call of each group that has not ended, and messages, with the groups that they are of.
    pub fn open(&self) -> impl Iterator<Item = (&GroupCall, &GroupCalls)> {
        self.groups.iter().flat_map(|group| {
            let messages = group.messages.iter().filter_map(|of| of.open.as_ref());
            group.open().into_iter().chain(messages).map(move |call| (call, group))
        })
    }
}

impl GroupCalls {
    /// What people know it by.
    pub fn title(&self) -> &str {
        if self.purpose.is_empty() { &self.name } else { &self.purpose }
    }

    /// Number of the first call that has not ended.
    pub fn first_open(&self) -> Option<u64> {
        self.lost.or_else(|| Some(self.open()?.number))
    }

    /// That call, or the first after it that the dump has.
    pub fn open(&self) -> Option<&GroupCall> {
        self.calls.iter().find(|call| !call.has_ended)
    }

    /// A call by its number.
    pub fn call(&self, number: u64) -> Option<&GroupCall> {
        self.calls.iter().find(|call| call.number == number)
    }
}

/// Why a file is not read as a dump.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlightError {
    /// The pickle cannot be read.
    #[error(transparent)]
    Pickle(#[from] SnapshotError),
    /// A pickle of something else: a memory snapshot, say.
    #[error("the pickle holds no dump of a flight recorder")]
    OtherPickle,
    /// It is damaged, or no dump.
    #[error("is no sound dump of NCCL's flight recorder")]
    NoDump,
}

/// Reads a dump from the bytes of its file, a pickle or JSON. What cannot be used of it is passed over and counted. Memory: some hundred
/// times the length of the input at most; of what torch writes about ten times.
///
/// # Errors
/// When it is neither, is damaged, or holds something else.
pub fn read_dump(bytes: &[u8]) -> Result<FlightDump, FlightError> {
    let json = if bytes.first() == Some(&0x80) {
        let (values, root) = pickle(bytes, false)?;
        let [groups, calls] = Record::new(["pg_config", "entries"], &values).read(&values, root);
        groups.or(calls).ok_or(FlightError::OtherPickle)?;
        pickled::json(&values, root)
    } else {
        serde_json::from_slice(bytes).ok()
    };
    json.and_then(|json| dump_layout::dump(&json)).ok_or(FlightError::NoDump)
}
