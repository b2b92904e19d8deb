//! What traces say: the document of `marey analyze`.

use serde::Serialize;

use super::{SCHEMA_VERSION, bytes_of};
use crate::model::TraceFile;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: &'static str,
    kind: &'static str,
    files: &'a [TraceFile],
}

/// What traces say, as UTF-8 JSON, indented, safe to print. `docs/schema/trace.schema.json` describes it.
pub fn trace_json(files: &[TraceFile]) -> Vec<u8> {
    bytes_of(&Document {
        schema_version: SCHEMA_VERSION,
        kind: "trace",
        files,
    })
}
