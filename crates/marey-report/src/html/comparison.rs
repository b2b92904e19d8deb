//! The page of a comparison: its document, and what is drawn of both sides.

use serde::Serialize;

use super::contents::{Contents, MAX_BYTES, Tab};
use super::page::{self, Model};
use crate::compare::{
    ComparedSide, ComparedTime, ComparisonReport, comparison_document, same_measures,
};
use crate::document::Block;
use crate::first_screen::FirstScreen;
use crate::quantity::whole;

/// Steps of a side that are drawn.
const MAX_STEPS: usize = 20_000;
/// Call paths that are drawn.
const MAX_PATHS: usize = 4_096;

/// What pictures of a comparison draw.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct DrawnComparison<'a> {
    /// The runs of the baseline, then those of the candidate.
    sides: [Vec<DrawnRun<'a>>; 2],
    /// What held the runs up, those above before those under them; empty where that is not known.
    paths: Vec<ComparedPath>,
}

/// One run of a side.
#[derive(Serialize, schemars::JsonSchema)]
struct DrawnRun<'a> {
    wall_ns: u64,
    /// How long each of its denoising steps took, in order of time; `None` where that is not known of one.
    step_ns: &'a [Option<u64>],
}

/// A call path of both sides, in the baseline's words.
#[derive(Serialize, schemars::JsonSchema)]
struct ComparedPath {
    name: String,
    /// Place of the path around it in the list.
    parent: Option<usize>,
    /// What it held a run of each side up, with all that is below it: the means.
    held_ns: [u64; 2],
}

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
    let comparison = DrawnComparison {
        sides: [&report.baseline, &report.candidate].map(drawn_runs),
        paths: ComparedTime::new(report).map_or_else(Vec::new, |time| paths(&time)),
    };
    page::page(&Model::Comparison { contents, comparison }, &[])
}

/// As many as there is room for.
fn drawn_runs(side: &ComparedSide) -> Vec<DrawnRun<'_>> {
    let mut room = MAX_STEPS;
    let run = side.runs.iter().map(|run| {
        let n_steps = run.step_ns.len().min(room);
        room -= n_steps;
        DrawnRun { wall_ns: run.wall_ns, step_ns: &run.step_ns[..n_steps] }
    });
    run.collect()
}

fn paths(time: &ComparedTime) -> Vec<ComparedPath> {
    let Some(account) = &time.account else {
        return Vec::new();
    };
    let rows = account.rows.iter().zip(account.held_ns()).take(MAX_PATHS);
    rows.map(|(row, held)| ComparedPath {
        name: row.name.clone(),
        parent: row.parent,
        held_ns: time.means(&held).map(|mean| whole(mean.round())),
    })
    .collect()
}
