//! What traces and memory snapshots say: the documents of `marey analyze`.

use serde::Serialize;

use super::{SCHEMA_VERSION, bytes_of};
use crate::model::{SnapshotFile, TraceFile, TraceRanks};

/// What `marey analyze FILE.pickle --format json` writes. What is not known is `None`, never 0.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct SnapshotDocument<'a> {
    /// The first number changes when a key changes its meaning or goes.
    #[schemars(regex(pattern = r"^2\.[0-9]+$"))]
    schema_version: &'static str,
    #[schemars(extend("const" = "memory_snapshot"))]
    kind: &'static str,
    #[serde(flatten)]
    file: &'a SnapshotFile,
}

/// What `marey analyze TRACE --format json` writes. Moments (`start_s`, `at_s`, `first_s`) count from the
/// first event of the trace. What is not known is `None`, never 0.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct TraceDocument<'a> {
    /// The first number changes when a key changes its meaning or goes.
    #[schemars(regex(pattern = r"^2\.[0-9]+$"))]
    schema_version: &'static str,
    #[schemars(extend("const" = "trace"))]
    kind: &'static str,
    /// The files, in the order in which they were named.
    files: &'a [TraceFile],
    /// What the files of several ranks of one job say together; `None` when they are of fewer than two ranks, name a rank twice, or
    /// disagree about the number of ranks.
    ranks: Option<&'a TraceRanks>,
    /// CUDA memory snapshots that lay beside the traces; absent when there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    memory_snapshot_files: &'a [SnapshotFile],
}

/// What a memory snapshot says, as UTF-8 JSON, indented, safe to print. `docs/schema/memory_snapshot.schema.json` describes it.
pub fn snapshot_json(file: &SnapshotFile) -> Vec<u8> {
    bytes_of(&SnapshotDocument { schema_version: SCHEMA_VERSION, kind: "memory_snapshot", file })
}

/// What traces say, alone and as ranks of one job, and memory snapshots that lay beside them, as UTF-8 JSON, indented, safe to print.
/// `docs/schema/trace.schema.json` describes it.
pub fn trace_json(
    files: &[TraceFile],
    ranks: Option<&TraceRanks>,
    snapshots: &[SnapshotFile],
) -> Vec<u8> {
    bytes_of(&TraceDocument {
        schema_version: SCHEMA_VERSION,
        kind: "trace",
        files,
        ranks,
        memory_snapshot_files: snapshots,
    })
}
