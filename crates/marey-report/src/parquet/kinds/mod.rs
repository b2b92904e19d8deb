//! The kinds of tables: what a row is, and its columns.

pub(super) mod processes;
pub(super) mod recorded;
pub(super) mod reported;
pub(super) mod samples;
pub(super) mod sections;
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
