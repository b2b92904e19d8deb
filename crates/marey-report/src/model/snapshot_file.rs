//! Memory snapshots that lie beside a capture.

use marey_analysis::SnapshotAnswers;
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
