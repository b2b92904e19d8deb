//! `report.html`: one file that opens by itself, with nothing loaded from anywhere.
//!
//! The page is built from `web/` and committed as an asset; here the run is put into it.

mod page;

use marey::Run;
use serde::Serialize;

use crate::model::Report;

/// What a page is about.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Model<'a> {
    Run { report: &'a Report },
}

/// The report as an HTML page. `run` is the run that the report was made of: it has the sections one by one.
pub fn html_report(report: &Report, _run: &Run) -> Vec<u8> {
    page::page(&Model::Run { report }, &[])
}
