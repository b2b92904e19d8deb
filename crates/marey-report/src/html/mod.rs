//! `report.html`: one file that opens by itself, with nothing loaded from anywhere.
//!
//! The page is built from `web/` and committed as an asset; here the run is put into it: the report as JSON with its longest lists
//! cut, and the timeline, whose slices are columns of bytes.

mod bounded;
mod columns;
mod comparison;
mod page;
mod projection;
mod ranks;
mod timeline;
mod trace;
mod trace_facts;

use marey::Run;
use marey_analysis::Findings;
use marey_analysis::import::chrome::{Trace, run_of};
use serde::Serialize;

use crate::model::{Report, TraceFile, TraceRanks};
pub use comparison::html_comparison;
pub use ranks::html_ranks;
use timeline::{MAX_SLICES, Timeline};
pub(crate) use timeline::{Track as ReadingTrack, all_tracks as reading_tracks};

/// The report as an HTML page. `run` is the run that the report was made of: it has the sections one by one.
pub fn html_report(report: &Report, run: &Run) -> Vec<u8> {
    with_traces(
        None,
        report,
        (&report.trace_files, None),
        Timeline::new(run, None, MAX_SLICES),
    )
}

/// What traces say as an HTML page, alone and as ranks of one job, with the timeline of `trace`, which is that of the first file.
pub fn html_trace(files: &[TraceFile], ranks: Option<&TraceRanks>, trace: &Trace) -> Vec<u8> {
    let run = run_of(trace);
    let mut report = Report::new(&run);
    // Rules about runs ask for what a trace never has, and so do questions about steps: the trace has answers of its own.
    report.activity.findings = together(files, ranks);
    report.activity.diffusion = None;
    let is_sampled = |what: &str| matches!(what, "gpu_metrics" | "cpu_metrics");
    let unavailable = &mut report.quality.unavailable;
    unavailable.retain(|not_read| !is_sampled(&not_read.what));
    let title = match files {
        [] => None,
        [only] => Some(last_part(&only.file).to_owned()),
        [first, ..] => Some(format!("{} and others", last_part(&first.file))),
    };
    let part = files
        .iter()
        .find_map(|f| f.answers.as_ref()?.scope.as_ref());
    let title = title.map(|title| match part {
        Some(part) => format!("{title} · {}", part.name),
        None => title,
    });
    with_traces(
        title.as_deref(),
        &report,
        (files, ranks),
        Timeline::new(&run, Some(trace), MAX_SLICES),
    )
}

/// The name of a file without its folders.
fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `title` is what the page is called, where that is not the run's name.
fn with_traces(
    title: Option<&str>,
    report: &Report,
    (files, ranks): (&[TraceFile], Option<&TraceRanks>),
    (timeline, columns): (Timeline, Vec<u8>),
) -> Vec<u8> {
    let (report, left_out) = projection::json(report);
    let model = [
        br#"{"kind":"run","report":"#,
        report.as_slice(),
        br#","left_out":"#,
        &json(&left_out),
        br#","title":"#,
        &json(&title),
        br#","traces":"#,
        &trace::json(files, ranks),
        br#","timeline":"#,
        &json(&timeline),
        b"}",
    ];
    page::page(&model.concat(), &columns)
}

/// The findings of all files; those of several in the order of the files, those between ranks last.
fn together(files: &[TraceFile], ranks: Option<&TraceRanks>) -> Findings {
    let mut all = Findings::default();
    let between = ranks.map(|ranks| &ranks.findings);
    for findings in files.iter().map(|file| &file.findings).chain(between) {
        all.found.extend(findings.found.iter().cloned());
        all.passed.extend(findings.passed.iter().cloned());
        all.unchecked.extend(findings.unchecked.iter().cloned());
    }
    all
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("string keys and plain values always serialize")
}
