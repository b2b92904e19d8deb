//! Files of other tools: memory snapshots that lie beside a capture, and traces of torch.profiler and of tools that write the same.

use marey_analysis::{Findings, RankCommunication, SnapshotAnswers, TraceAnswers};
use serde::Serialize;

/// One file, and what it says.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SnapshotFile {
    /// Its name in the folder of the capture, or its path elsewhere. Not safe to print.
    pub file: String,
    /// Why it could not be read; `None` when it could. Not safe to print.
    pub problem: Option<String>,
    /// What it says; `None` when it could not be read.
    pub answers: Option<SnapshotAnswers>,
}

/// One file, and what it says.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TraceFile {
    /// Its name in the folder of the capture, or its path elsewhere. Not safe to print.
    pub file: String,
    /// What it says; `None` when it could not be read.
    pub answers: Option<TraceAnswers>,
    /// Its findings; none when it could not be read.
    pub findings: Findings,
    /// Why it could not be read; `None` when it could. Not safe to print.
    pub problem: Option<String>,
}

impl TraceFile {
    /// A file that could not be read, and why.
    pub fn unread(file: String, problem: String) -> Self {
        Self { file, answers: None, findings: Findings::default(), problem: Some(problem) }
    }
}

/// What the files of several ranks of one job say together.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TraceRanks {
    /// What they waited for each other.
    pub communication: RankCommunication,
    /// Findings between them.
    pub findings: Findings,
}
