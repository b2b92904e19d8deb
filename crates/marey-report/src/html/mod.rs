//! `report.html`: one file that opens by itself, with nothing loaded from anywhere.
//!
//! The page is built from `web/` and committed as an asset; here the run is put into it: the report as JSON with its longest lists
//! cut, and the timeline, whose slices are columns of bytes.

mod bounded;
mod comparison;
mod page;
mod projection;
mod timeline;

use marey::Run;
use serde::Serialize;

use crate::model::Report;
pub use comparison::html_comparison;
use timeline::{MAX_SLICES, Timeline};
pub(crate) use timeline::{Track as ReadingTrack, all_tracks as reading_tracks};

/// The report as an HTML page. `run` is the run that the report was made of: it has the sections one by one.
pub fn html_report(report: &Report, run: &Run) -> Vec<u8> {
    let (report, left_out) = projection::json(report);
    let (timeline, columns) = Timeline::new(run, MAX_SLICES);
    let model = [
        br#"{"kind":"run","report":"#,
        report.as_slice(),
        br#","left_out":"#,
        &json(&left_out),
        br#","timeline":"#,
        &json(&timeline),
        b"}",
    ];
    page::page(&model.concat(), &columns)
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("string keys and plain values always serialize")
}
