//! The page of a comparison.

use std::collections::BTreeMap;

use marey_analysis::compare::{Comparison, MeasureKind};
use serde::Serialize;

use super::{json, page};

/// What the page of a comparison carries.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "comparison")]
struct Model<'a> {
    comparison: &'a Comparison,
    /// What each kind of measure is, in words.
    meanings: BTreeMap<MeasureKind, &'static str>,
}

/// The comparison as an HTML page.
pub fn html_comparison(comparison: &Comparison) -> Vec<u8> {
    let kinds = comparison.measures.iter().map(|measure| measure.kind);
    let model = Model {
        comparison,
        meanings: kinds.map(|kind| (kind, kind.meaning())).collect(),
    };
    page::page(&json(&model), &[])
}
