//! What got slower, hungrier or different between two runs, or between repeats of two versions, and is it more than chance?

mod change_points;
mod comparison;
mod environment;
mod headline;
mod matching;
mod measure;
mod options;

use marey::Run;

pub use change_points::{ChangePoint, Trend, TrendMeasure, TrendPoint, trend};
pub use comparison::{Basis, Comparison, Side, Verdict};
pub use environment::{Difference, EnvironmentCategory};
pub use headline::{Headline, HeadlineFigure};
pub use matching::SectionMatch;
pub use measure::{Area, Better, Change, Measure, MeasureKind, Observed, Subject};
pub use options::CompareOptions;

use matching::{Place, Tree};

/// The candidate against the baseline; each side is one run or several repeats of one.
pub fn compare(baseline: &[Run], candidate: &[Run], options: &CompareOptions) -> Comparison {
    let _ = options;
    let is_repeated = baseline.len() >= 2 && candidate.len() >= 2;
    Comparison {
        verdict: Verdict::CannotTell,
        basis: if is_repeated {
            Basis::Repeats
        } else {
            Basis::Calls
        },
        baseline: side(baseline),
        candidate: side(candidate),
        environment: environment::differences(baseline, candidate),
        headline: Vec::new(),
        sections: matching::matches(&tree(baseline), &tree(candidate)),
        measures: Vec::new(),
        n_tests: 0,
        notes: Vec::new(),
    }
}

fn side(runs: &[Run]) -> Side {
    let mut walls: Vec<u64> = runs.iter().map(|run| run.wall_ns).collect();
    walls.sort_unstable();
    let is_unfinished = |run: &&Run| run.status != marey::Status::Finished;
    Side {
        n_runs: runs.len() as u64,
        n_unfinished: runs.iter().filter(is_unfinished).count() as u64,
        wall_ns: crate::stats::median(&walls),
        n_with_losses: runs.iter().filter(|run| !run.losses.is_none()).count() as u64,
    }
}

/// Call paths of any of the runs, in the order of the first call that is known.
fn tree(runs: &[Run]) -> Tree {
    let mut tree = Tree::new();
    for run in runs {
        let answer = crate::sections(run);
        let mut paths: std::collections::BTreeMap<u32, Vec<String>> =
            std::collections::BTreeMap::new();
        for row in &answer.tree {
            let mut path = row
                .parent
                .and_then(|parent| paths.get(&parent))
                .cloned()
                .unwrap_or_default();
            path.push(row.name.clone());
            paths.insert(row.node, path.clone());
            let place = tree.entry(path).or_default();
            place.is_loop = row.kind == crate::Kind::Iteration;
            place.order = row.node as usize;
            place.count += row.calls.count;
            place.share += row.share_of_wall_ratio.unwrap_or(0.0);
        }
    }
    let _: Option<&Place> = tree.values().next();
    tree
}
