//! The kinds of tables, one a file: what a row is, and its columns.

pub(super) mod allocations;
pub(super) mod blocks;
pub(super) mod cache;
pub(super) mod counters;
pub(super) mod deliveries;
pub(super) mod events;
pub(super) mod gpu_spans;
pub(super) mod layers;
pub(super) mod memory;
pub(super) mod models;
pub(super) mod open;
pub(super) mod processes;
pub(super) mod samples;
pub(super) mod section_memory;
pub(super) mod section_resources;
pub(super) mod sections;
pub(super) mod sessions;
pub(super) mod steps;
pub(super) mod totals;

use marey::Attributes;
use serde_json::{Map, Value as Json};

use crate::model::json_value;

/// Attributes as the text of a JSON object; `None` when there are none. Numbers that are not finite are `null` in it.
fn json(attributes: &Attributes) -> Option<String> {
    if attributes.is_empty() {
        return None;
    }
    let pairs = attributes.iter().map(|(name, value)| (name.clone(), json_value(value)));
    Some(Json::Object(pairs.collect::<Map<_, _>>()).to_string())
}

/// A count that fits.
fn number(n: usize) -> Option<u64> {
    u64::try_from(n).ok()
}
