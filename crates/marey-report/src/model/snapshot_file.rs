//! Memory snapshots that lie beside a capture.

use marey_analysis::SnapshotAnswers;
use serde::Serialize;

/// One file, and what it says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SnapshotFile {
    /// Its name in the folder of the capture, or the path that was asked for. Not safe to print.
    pub file: String,
    /// What it says; `None` when it could not be read.
    pub answers: Option<SnapshotAnswers>,
    /// Why it could not be read; `None` when it could. Not safe to print.
    pub problem: Option<String>,
}
