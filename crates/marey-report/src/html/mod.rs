//! `report.html`: one file that opens by itself, with nothing loaded from anywhere.
//!
//! The page is built from `web/` and committed as an asset; here the run is put into it: the blocks of its document, what its pictures
//! draw as JSON, and the timeline, whose slices are columns of bytes.

mod columns;
mod comparison;
mod contents;
mod page;
mod pictures;
mod ranks;
mod run;
mod snapshots;
mod timeline;

use marey::Run;
use marey_analysis::import::chrome::{Trace, run_of};
use serde::Serialize;

use crate::first_screen::{FirstScreen, Places};
use crate::model::{Report, SnapshotFile, TraceFile, TraceRanks};
use crate::rank_report::RankedJob;
pub use comparison::html_comparison;
use contents::Contents;
use page::Model;
pub use page::page_schema;
use pictures::Pictures;
use ranks::RanksOfRun;
pub use ranks::html_ranks;
pub use snapshots::html_snapshots;
use timeline::{MAX_SLICES, Timeline};
pub(crate) use timeline::{Track as ReadingTrack, all_tracks as reading_tracks};

/// The report as an HTML page. `run` is the run that the report was made of: it has the sections one by one. Where it is one of several ranks,
/// the page begins with what all of them did.
pub fn html_report(report: &Report, run: &Run, ranks: Option<&RankedJob>) -> Vec<u8> {
    let screen = FirstScreen::of_run(report, &Places::default());
    let contents = run::of_run(report, &screen, ranks);
    let timeline = Timeline::new(run, None, MAX_SLICES);
    let of_all = ranks.map(|ranks| (ranks, ranks.screen(Places::default())));
    let of_all = of_all.as_ref().map(|(ranks, screen)| (*ranks, screen));
    with_timeline(contents, report, timeline, of_all)
}

/// What traces say as an HTML page, alone and as ranks of one job, with the timeline of `trace`, which is that of the first file; and what
/// memory snapshots beside them say.
pub fn html_trace(
    files: &[TraceFile],
    ranks: Option<&TraceRanks>,
    snapshots: &[SnapshotFile],
    trace: &Trace,
) -> Vec<u8> {
    let run = run_of(trace);
    let mut report = Report::new(&run);
    // Questions about steps ask for what a trace never has.
    report.activity.diffusion = None;
    let names = files.iter().map(|file| &file.file);
    let names = names.chain(snapshots.iter().map(|file| &file.file));
    let names: Vec<&str> = names.map(String::as_str).collect();
    let title = title_of(&names);
    let part = files.iter().find_map(|f| f.answers.as_ref()?.scope.as_ref());
    let title = match part {
        Some(part) => format!("{title} · {}", part.name),
        None => title,
    };
    let screen = match files {
        [only] => FirstScreen::of_trace(only),
        _ => None,
    };
    let contents = run::of_traces(title, (files, ranks), snapshots, screen.as_ref());
    let timeline = Timeline::new(&run, Some(trace), MAX_SLICES);
    with_timeline(contents, &report, timeline, None)
}

/// The name of the file without its folders, or of the first of several.
fn title_of(paths: &[&str]) -> String {
    let first = paths.first().copied().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or(first);
    match paths {
        [_, _, ..] => format!("{name} and others"),
        _ => name.to_owned(),
    }
}

fn with_timeline(
    contents: Contents<'_>,
    report: &Report,
    (timeline, mut columns): (Timeline, Vec<u8>),
    ranks: Option<(&RankedJob, &FirstScreen)>,
) -> Vec<u8> {
    let pictures = Pictures::new(report);
    let model = Model::Run {
        contents,
        pictures,
        timeline,
        ranks: ranks.map(|(ranks, screen)| RanksOfRun::new(ranks, screen, &mut columns)),
    };
    page::page(&model, &columns)
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("string keys and plain values always serialize")
}
