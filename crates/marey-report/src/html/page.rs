//! The page with a model put into it.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::comparison::DrawnComparison;
use super::contents::Contents;
use super::pictures::Pictures;
use super::ranks::{JobPage, RanksOfRun};
use super::snapshots::DrawnSnapshot;
use super::timeline::Timeline;
use crate::json::schema_of;

/// Built by `web/build.mjs` from `web/src`.
const PAGE: &str = include_str!("../../assets/page.html");

/// Of a million slices levels 2 to 6 take the same time and give the same size; 1 is a quarter larger, 9 takes longer for nothing.
/// JSON is smallest with 6.
const LEVEL: u32 = 6;

/// What a page carries beside its columns. `web/model` is made of it.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one a page")]
pub(super) enum Model<'a> {
    /// About a run, or traces.
    Run {
        contents: Contents<'a>,
        pictures: Pictures<'a>,
        timeline: Timeline,
        /// Of a run that is one of several ranks: what all of them did.
        ranks: Option<RanksOfRun<'a>>,
    },
    /// Of two sides.
    Comparison { contents: Contents<'a>, comparison: DrawnComparison<'a> },
    /// Of memory snapshots.
    Document { contents: Contents<'a>, snapshots: Vec<DrawnSnapshot<'a>> },
    /// About many ranks.
    Ranks {
        /// About all jobs.
        contents: Contents<'a>,
        jobs: Vec<JobPage<'a>>,
        /// Bytes a number, of each column.
        widths: Vec<usize>,
    },
}

/// JSON Schema of what pages carry, for the program in them.
pub fn page_schema() -> Schema {
    schema_of::<Model<'_>>(SchemaSettings::draft07())
}

/// A page with a model, and columns of bytes. Both are compressed and then written in letters, digits, `+`, `/` and `=` alone, so nothing
/// that a user named can be markup.
pub(super) fn page(model: &Model<'_>, columns: &[u8]) -> Vec<u8> {
    let (before, rest) = PAGE.split_once("{{model}}").unwrap_or((PAGE, ""));
    let (between, after) = rest.split_once("{{columns}}").unwrap_or((rest, ""));
    let columns = if columns.is_empty() { String::new() } else { packed(columns) };
    [before, &packed(&super::json(model)), between, &columns, after].concat().into_bytes()
}

fn packed(bytes: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    let compressed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    STANDARD.encode(compressed.expect("a vector takes all that is written"))
}
