//! The page of a comparison.

use super::contents::{Contents, MAX_BYTES, Tab};
use super::page::{self, Model};
use crate::compare::{ComparisonReport, comparison_document, same_measures};
use crate::document::Block;
use crate::first_screen::FirstScreen;

/// The comparison as an HTML page.
pub fn html_comparison(report: &ComparisonReport) -> Vec<u8> {
    let screen = FirstScreen::of_comparison(report, String::new());
    let mut blocks = comparison_document(report).blocks;
    let same = same_measures(report);
    if !same.rows.is_empty() {
        let title = "What stayed the same".into();
        blocks.push(Block::Aside(title, vec![Block::Table(same)]));
    }
    let tab = Tab { id: "comparison", title: "Comparison".into(), blocks };
    let contents = Contents::new("Comparison", Some(screen.drawn()), vec![tab], MAX_BYTES);
    let snapshots = Vec::new();
    page::page(&Model::Document { contents, snapshots }, &[])
}
