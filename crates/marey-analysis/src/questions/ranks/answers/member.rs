//! The ranks of a job, as values.

use serde::Serialize;

use crate::job::{DeviceSums, Ended, Source, StagePiece, Work};

/// A process that stands for a rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Member {
    /// Which rank; `None` when no file says.
    pub rank: Option<u32>,
    /// Its host.
    pub host: String,
    /// Its place among the ranks of the host.
    pub local_rank: Option<u32>,
    /// Process id; 0 when not known.
    pub pid: u32,
    /// The file that it was read from.
    pub file: String,
    /// What a report calls the session or run that it is of; `None` when it does not say, and of captures and traces.
    pub session_id: Option<String>,
    /// What the file is.
    pub source: Source,
    /// How it ended.
    pub ended: Ended,
    /// The file ends within a block, or within the events of a trace: it was cut, or whoever wrote it was stopped meanwhile.
    pub is_truncated: bool,
    /// Whether its figures are whole.
    pub state: MemberState,
    /// How long it ran.
    pub wall_ns: u64,
    /// Sections and notes that were not recorded.
    pub n_lost: u64,
    /// What was wrong with the file.
    pub warnings: Vec<String>,
    /// Other processes of this rank: children, earlier attempts, and other files of the same one. They are in no figure.
    pub n_others: u64,
    /// What its main thread did when, on its own clock; [`super::Clocks::each`] says what that is on the common axis. Collectives lie
    /// between the sections that say what it did; more than 256 pieces are put together.
    pub stages: Vec<StagePiece>,
    /// Names that `stages` refers to.
    pub stage_names: Vec<String>,
    /// Which of `stage_names` are collectives, and waits for them: indices.
    pub communication_names: Vec<u32>,
    /// What it made.
    pub work: Work,
    /// What its GPU did, which adds up to `wall_ns`; `None` unless the file is a trace with one GPU.
    pub device: Option<DeviceSums>,
}

/// Whether a rank's figures are whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemberState {
    /// It ended by itself, and everything is there.
    #[default]
    Whole,
    /// It has not ended.
    Running,
    /// It failed, was killed or vanished: what it did up to then is there.
    Cut,
    /// Something is wrong with its file, as [`Member::warnings`] say: what could be read is there.
    Damaged,
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HostRow {
    /// Its name; empty when not known.
    pub host: String,
    /// Its ranks.
    pub places: Vec<u32>,
}

/// A version of Marey.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct VersionRow {
    /// The version; `None` when files do not say.
    pub marey: Option<String>,
    /// Ranks that were recorded with it.
    pub places: Vec<u32>,
}
