//! What traces say: the document of `marey analyze`.

use serde::Serialize;

use super::snapshot::SnapshotObject;
use super::{SCHEMA_VERSION, bytes_of};
use crate::model::{SnapshotFile, TraceFile, TraceRanks};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    kind: &'static str,
    files: &'a [TraceFile],
    ranks: Option<&'a TraceRanks>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory_snapshot_files: Vec<SnapshotObject<'a>>,
}

/// What traces say, alone and as ranks of one job, and memory snapshots that lay beside them, as UTF-8 JSON, indented, safe to print.
/// `docs/schema/trace.schema.json` describes it.
pub fn trace_json(
    files: &[TraceFile],
    ranks: Option<&TraceRanks>,
    snapshots: &[SnapshotFile],
) -> Vec<u8> {
    bytes_of(&Document {
        schema_version: SCHEMA_VERSION,
        kind: "trace",
        files,
        ranks,
        memory_snapshot_files: snapshots.iter().map(SnapshotObject::new).collect(),
    })
}
