//! The page of a comparison.

use serde::Serialize;

use super::{json, page};
use crate::compare::ComparisonReport;
use crate::json::comparison;

/// What the page of a comparison carries.
#[derive(Serialize)]
#[serde(tag = "kind", rename = "comparison")]
struct Model<T> {
    /// As in the document for programs.
    comparison: T,
}

/// The comparison as an HTML page.
pub fn html_comparison(report: &ComparisonReport) -> Vec<u8> {
    let comparison = comparison(report);
    page::page(&json(&Model { comparison }), &[])
}
