//! Two traces made alike before they are compared, and what a reader has to know of that.

use marey::Run;

use super::environment::{self, EnvironmentCategory};
use super::outer_ranges::without_outer_ranges;
use super::traced::TracedSide;

/// What is compared of two sides.
pub(super) struct Prepared {
    /// Of the baseline and of the candidate.
    pub(super) outlines: [Vec<Run>; 2],
    /// A side is of several ranks of a job.
    pub(super) are_ranks: bool,
    pub(super) notes: Vec<String>,
}

impl Prepared {
    pub(super) fn new(baseline: &TracedSide, candidate: &TracedSide) -> Self {
        let sides = [baseline, candidate];
        let mut notes = of_ranks(sides);
        let with_modules = sides.map(TracedSide::has_modules);
        let is_there = sides.iter().all(|side| !side.runs().is_empty());
        if is_there && with_modules[0] != with_modules[1] {
            let name = if with_modules[0] { "baseline" } else { "candidate" };
            notes.push(format!(
                "Only the {name} has modules: call paths are compared without them."
            ));
        }
        let are_with = with_modules[0] && with_modules[1];
        let mut outlines = sides.map(|side| side.outlines(are_with));
        let dropped = without_outer_ranges(&mut outlines);
        for (name, dropped) in ["baseline", "candidate"].into_iter().zip(dropped) {
            if !dropped.is_empty() {
                let ranges: Vec<&str> = dropped.iter().map(String::as_str).collect();
                notes.push(format!(
                    "Only the {name} has a range around what both sides have, which is left out of call paths: {}.",
                    ranges.join(", ")
                ));
            }
        }
        if is_there {
            notes.extend(of_environment(&outlines));
        }
        Self { outlines, are_ranks: sides.iter().any(|side| side.ranks().is_some()), notes }
    }
}

fn of_ranks(sides: [&TracedSide; 2]) -> Vec<String> {
    let [first, second] = sides.map(TracedSide::known_ranks);
    let mut notes = Vec::new();
    if sides.iter().any(|side| side.ranks().is_some()) {
        notes.push(
            "Ranks of one job are not repeats: they do not vary by themselves. Nothing is tested; the median of the ranks is compared."
                .to_owned(),
        );
    }
    if !first.is_empty() && !second.is_empty() && first != second {
        let text = |ranks: &[u32]| {
            let texts: Vec<String> = ranks.iter().map(u32::to_string).collect();
            texts.join(", ")
        };
        notes.push(format!(
            "The baseline is of rank {}, the candidate of rank {}: other ranks may have other work.",
            text(&first),
            text(&second)
        ));
    }
    notes
}

fn of_environment([baseline, candidate]: &[Vec<Run>; 2]) -> Option<String> {
    let unknown = environment::unknown(baseline, candidate);
    let names = unknown.iter().map(|category| match category {
        EnvironmentCategory::Command => "command",
        EnvironmentCategory::Configuration => "configuration",
        EnvironmentCategory::Machine => "machine",
        EnvironmentCategory::Version => "versions",
        EnvironmentCategory::Other => "other facts",
    });
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "Whether these are the same is not known, as a trace does not say: {}.",
            names.join(", ")
        )
    })
}
