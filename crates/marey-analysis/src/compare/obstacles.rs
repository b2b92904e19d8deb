//! Why two sides are not two whole runs of one program: what no figure of them shows.
//!
//! ```text
//! baseline     load │ denoise 40 steps │ decode     finished
//! candidate    load │ denoise 10 ✝                  killed: its steps are as fast, and it is no good
//!
//! baseline     load │ denoise │ decode
//! candidate    load │ decode                        what is left is the same; denoise is gone
//! ```

use marey::{Run, Status, signal_text};
use serde::Serialize;

use super::TracedSide;
use super::matching::SectionMatch;
use super::verdict::Verdict;
use super::{Measure, MeasureKind, Subject};
use crate::quantity::{duration_ns, rounded_percent};

/// A reason not to take the figures for the whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Obstacle {
    /// [`Verdict::Worse`] where the candidate died or failed and the baseline did not, else [`Verdict::CannotTell`].
    pub verdict: Verdict,
    /// What is the matter, a sentence without its full stop. It holds what a program gave as its reason to fail, and names of
    /// sections, as they are: not safe to print.
    pub text: String,
}

/// What is gone matters from this share of the baseline's wall time on.
pub(super) const GONE_SHARE: f64 = 0.1;

/// Sides that have the work of launches to shares further apart than this are not compared.
const UNEVEN: f64 = 0.01;

/// A section that takes so much of the wall time stands for the run: what is gone from it is gone from the run. What is gone
/// from a smaller one is judged by the time of that one.
pub(super) const STANDS_FOR_RUN: f64 = 0.9;

/// All of two sides with runs, the gravest first; how they ended is known.
pub(super) fn obstacles(
    ends: Option<Obstacle>,
    measures: &[Measure],
    sections: &[SectionMatch],
) -> Vec<Obstacle> {
    let mut found: Vec<Obstacle> = ends.into_iter().collect();
    match nothing_in_common(sections) {
        Some(obstacle) => found.push(obstacle),
        None if found.is_empty() => found.extend(gone(measures)),
        None => {}
    }
    found
}

pub(super) fn is_unfinished(run: &Run) -> bool {
    run.ending() != Status::Finished
}

/// Runs of one side did not finish, all of the other did, or ended in another way.
pub(super) fn ends(baseline: &[Run], candidate: &[Run]) -> Option<Obstacle> {
    let of = |runs: &[Run]| runs.iter().filter(|run| is_unfinished(run)).count();
    let (name, runs, other, verdict) = match (of(baseline), of(candidate)) {
        (0, 1..) => ("candidate", candidate, "baseline", Verdict::Worse),
        (1.., 0) => ("baseline", baseline, "candidate", Verdict::CannotTell),
        (1.., 1..) => return both_ends(baseline, candidate),
        (0, 0) => return None,
    };
    let run = unfinished(runs)?;
    // One that still goes on may end well.
    let is_dead = run.ending() != Status::Running;
    Some(Obstacle {
        verdict: if is_dead { verdict } else { Verdict::CannotTell },
        text: format!("{}, the {other} finished", how_one_ended(name, runs, run)),
    })
}

/// Where both sides died in one way they are alike.
fn both_ends(baseline: &[Run], candidate: &[Run]) -> Option<Obstacle> {
    let (before, after) = (unfinished(baseline)?, unfinished(candidate)?);
    (before.ending() != after.ending()).then(|| Obstacle {
        verdict: Verdict::CannotTell,
        text: format!(
            "{}, {}",
            how_one_ended("baseline", baseline, before),
            how_one_ended("candidate", candidate, after)
        ),
    })
}

/// One of a side that did not finish, first of those that died.
fn unfinished(runs: &[Run]) -> Option<&Run> {
    let all = || runs.iter().filter(|run| is_unfinished(run));
    let dead = all().find(|run| run.ending() != Status::Running);
    dead.or_else(|| all().next())
}

/// `the baseline failed (ValueError) after 765 ms`
fn how_one_ended(name: &str, runs: &[Run], run: &Run) -> String {
    let n = runs.iter().filter(|run| is_unfinished(run)).count();
    let who = match runs.len() {
        1 => format!("the {name}"),
        n_runs => format!("{n} of {n_runs} runs of the {name} did not finish: one"),
    };
    let time = duration_ns(run.wall_ns);
    format!("{who} {} {time}", how_it_ended(&run.ending()))
}

/// Goes before a duration.
fn how_it_ended(status: &Status) -> String {
    match status {
        Status::Running => "had not ended when it was read, after".into(),
        Status::Finished => "finished after".into(),
        Status::Failed(reason) => format!("failed ({reason}) after"),
        Status::OutOfMemory(reason) => format!("ran out of memory ({reason}) after"),
        Status::Killed(signal) => format!("was killed by {} after", signal_text(*signal)),
        Status::EndedWithoutClosing => "died without closing its capture after".into(),
    }
}

/// Both sides have sections, and none is of both.
fn nothing_in_common(sections: &[SectionMatch]) -> Option<Obstacle> {
    let n = |verdict| sections.iter().filter(|s| s.presence == verdict).count();
    let (new, gone) = (n(Verdict::New), n(Verdict::Gone));
    let is_apart = new > 0 && gone > 0 && new + gone == sections.len();
    is_apart.then(|| Obstacle {
        verdict: Verdict::CannotTell,
        text: format!(
            "the sides have no section in common: {gone} of the baseline, {new} of the candidate"
        ),
    })
}

/// One side has clearly less of what it launched than the other.
pub(super) fn missing_work(sides: [&TracedSide; 2]) -> Option<Obstacle> {
    let [baseline, candidate] = sides.map(TracedSide::least_covered);
    let (of_baseline, of_candidate) = (baseline?.ratio()?, candidate?.ratio()?);
    let is_baseline = of_baseline < of_candidate;
    let (name, least) = if is_baseline { ("baseline", baseline) } else { ("candidate", candidate) };
    let lack = least?.lack().filter(|_| (of_baseline - of_candidate).abs() > UNEVEN)?;
    Some(Obstacle { verdict: Verdict::CannotTell, text: format!("in the {name} {lack}") })
}

/// Much of what the baseline spent its time with is not in the candidate.
fn gone(measures: &[Measure]) -> Option<Obstacle> {
    let wall =
        measures.iter().find(|m| m.kind == MeasureKind::WallTime && m.subject == Subject::Run)?;
    let wall = wall.baseline?.value;
    // Measures are sorted.
    let total = |path: &[String]| {
        let subject = Subject::Path(path.to_vec());
        let key = (MeasureKind::SectionTotal, &subject);
        let at = measures.binary_search_by(|m| (m.kind, &m.subject).cmp(&key));
        at.ok().map(|at| &measures[at])
    };
    let stands_for_run = |path: &[String]| {
        let around = total(path);
        around.is_some_and(|m| {
            m.candidate.is_some() && m.baseline.is_some_and(|b| b.value >= STANDS_FOR_RUN * wall)
        })
    };
    let gone = measures
        .iter()
        .filter(|m| m.kind == MeasureKind::SectionTotal && m.verdict == Verdict::Gone);
    let mut lost: Vec<(&[String], f64)> = Vec::new();
    for measure in gone {
        let (Subject::Path(path), Some(baseline)) = (&measure.subject, measure.baseline) else {
            continue;
        };
        if (1..path.len()).all(|n| stands_for_run(&path[..n])) {
            lost.push((path, baseline.value));
        }
    }
    let all: f64 = lost.iter().map(|(_, ns)| ns).sum();
    if lost.is_empty() || all <= GONE_SHARE * wall {
        return None;
    }
    lost.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let more = (lost.len() > 1).then(|| format!(" and {} more", lost.len() - 1));
    let text = format!(
        "what took {} of the baseline's wall time is gone: {}{}",
        rounded_percent((all / wall).min(1.0)),
        lost[0].0.join(" / "),
        more.unwrap_or_default()
    );
    Some(Obstacle { verdict: Verdict::CannotTell, text })
}
