//! What traces and memory snapshots say: the documents of `marey analyze`.

use serde::Serialize;

use super::object::{Fields, object};
use super::{SCHEMA_VERSION, bytes_of};
use crate::model::{SnapshotFile, TraceFile, TraceRanks};

/// What a memory snapshot says, as UTF-8 JSON, indented, safe to print. `docs/schema/memory_snapshot.schema.json` describes it.
pub fn snapshot_json(file: &SnapshotFile) -> Vec<u8> {
    bytes_of(&object! {
        schema_version: SCHEMA_VERSION,
        kind: "memory_snapshot",
        ..snapshot(file),
    })
}

/// What traces say, alone and as ranks of one job, and memory snapshots that lay beside them, as UTF-8 JSON, indented, safe to print.
/// `docs/schema/trace.schema.json` describes it.
pub fn trace_json(
    files: &[TraceFile],
    ranks: Option<&TraceRanks>,
    snapshots: &[SnapshotFile],
) -> Vec<u8> {
    bytes_of(&object! {
        schema_version: SCHEMA_VERSION,
        kind: "trace",
        files: files,
        ranks: ranks,
        memory_snapshot_files?: snapshot_files(snapshots),
    })
}

/// One file. The keys of what it says are those of the answers: sizes are bytes, moments nanoseconds.
fn snapshot(file: &SnapshotFile) -> impl Fields + Serialize {
    object! { file: &file.file, problem: &file.problem, answers: &file.answers }
}

/// `None` without files.
pub(super) fn snapshot_files(files: &[SnapshotFile]) -> Option<Vec<impl Serialize>> {
    let all = files.iter().map(snapshot).collect();
    (!files.is_empty()).then_some(all)
}
