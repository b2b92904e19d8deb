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
    /// What there was no room for, as sentences.
    not_drawn: Vec<String>,
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
    let sides = [&report.baseline, &report.candidate];
    let paths = ComparedTime::new(report).map_or_else(Vec::new, |time| paths(&time));
    let not_drawn = not_drawn(sides, paths.len());
    let paths = paths.into_iter().take(MAX_PATHS).collect();
    let comparison = DrawnComparison { sides: sides.map(drawn_runs), paths, not_drawn };
    page::page(&Model::Comparison { contents, comparison }, &[])
}

fn not_drawn(sides: [&ComparedSide; 2], n_paths: usize) -> Vec<String> {
    let [before, after] =
        sides.map(|side| side.runs.iter().map(|run| run.step_ns.len()).sum::<usize>());
    let each = [
        (before, MAX_STEPS, "steps of the baseline"),
        (after, MAX_STEPS, "steps of the candidate"),
        (n_paths, MAX_PATHS, "call paths"),
    ];
    let too_many = each.into_iter().filter(|(n, most, _)| n > most);
    too_many.map(|(n, most, what)| format!("Not drawn: {} of {n} {what}.", n - most)).collect()
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
    let rows = account.rows.iter().zip(account.held_ns());
    rows.map(|(row, held)| ComparedPath {
        name: row.name.clone(),
        parent: row.parent,
        held_ns: time.means(&held).map(|mean| whole(mean.round())),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use marey::Run;

    use super::{MAX_PATHS, MAX_STEPS, drawn_runs, not_drawn};
    use crate::compare::{ComparedRun, ComparedSide};

    #[test]
    fn what_there_is_no_room_for_is_counted() {
        let [few, many] = [side(&[3]), side(&[MAX_STEPS - 10, 15, 7])];
        let drawn: Vec<usize> = drawn_runs(&many).iter().map(|run| run.step_ns.len()).collect();
        assert_eq!(drawn, [MAX_STEPS - 10, 10, 0]);
        assert_eq!(not_drawn([&few, &few], MAX_PATHS), Vec::<String>::new());
        assert_eq!(not_drawn([&many, &few], 0), ["Not drawn: 12 of 20012 steps of the baseline."]);
        let both =
            ["Not drawn: 12 of 20012 steps of the candidate.", "Not drawn: 1 of 4097 call paths."];
        assert_eq!(not_drawn([&few, &many], MAX_PATHS + 1), both);
    }

    /// Runs with so many steps each.
    fn side(n_steps: &[usize]) -> ComparedSide {
        let run = ComparedRun::new(String::new(), &Run::default(), 0);
        let with = |n: &usize| ComparedRun { step_ns: vec![Some(1); *n], ..run.clone() };
        ComparedSide { runs: n_steps.iter().map(with).collect(), ..ComparedSide::default() }
    }
}
