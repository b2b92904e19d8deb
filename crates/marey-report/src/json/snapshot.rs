//! What memory snapshots say: the document of `marey analyze`, and a key of the profiling report.

use marey_analysis::SnapshotAnswers;
use serde::Serialize;

use super::{SCHEMA_VERSION, bytes_of};
use crate::model::SnapshotFile;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    file: SnapshotObject<'a>,
}

/// One file. The keys of what it says are those of the answers: sizes are bytes, moments nanoseconds.
#[derive(Serialize)]
pub(super) struct SnapshotObject<'a> {
    file: &'a str,
    problem: Option<&'a str>,
    answers: Option<&'a SnapshotAnswers>,
}

impl<'a> SnapshotObject<'a> {
    pub(super) fn new(file: &'a SnapshotFile) -> Self {
        Self {
            file: &file.file,
            problem: file.problem.as_deref(),
            answers: file.answers.as_ref(),
        }
    }
}

/// What a memory snapshot says, as UTF-8 JSON, indented, safe to print. `docs/schema/memory_snapshot.schema.json` describes it.
pub fn snapshot_json(file: &SnapshotFile) -> Vec<u8> {
    bytes_of(&Document {
        schema_version: SCHEMA_VERSION,
        kind: "memory_snapshot",
        file: SnapshotObject::new(file),
    })
}
