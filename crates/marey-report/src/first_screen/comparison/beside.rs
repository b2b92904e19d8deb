//! What stands beside the times of a comparison: memory, what to know of the data, and how the command ends.

use marey_analysis::compare::{Area, EnvironmentCategory, Measure, MeasureKind, Subject, Verdict};

use super::decided::with_change;
use super::headline::{Outcome, is_below_floor};
use crate::compare::{ComparedSide, ComparedTime, ComparisonReport, minute, without_unit};
use crate::first_screen::Labelled;
use crate::json::object::{Json, object};
use crate::quantity::{counted, duration_ns, share, size, whole};

/// Peaks that are shown.
const MOST_PEAKS: usize = 2;
/// One side was recorded so much earlier that the sides may be swapped.
const LONG_BEFORE_NS: u64 = 60_000_000_000;

/// `peak 372 → 381 MiB (process)`
pub(super) fn memory(report: &ComparisonReport) -> Option<(Labelled, Vec<impl Json + use<>>)> {
    let measures = &report.comparison.measures;
    let of = |kind| measures.iter().filter(move |m: &&Measure| m.kind == kind);
    let is_process = |m: &&Measure| m.subject == Subject::Memory("process".into());
    let mut peaks: Vec<&Measure> = of(MeasureKind::MemoryPeak).collect();
    if !peaks.iter().any(is_process) {
        peaks.extend(of(MeasureKind::ProcessMemoryPeak));
    }
    peaks.retain(|m| m.baseline.is_some() && m.candidate.is_some());
    // Devices first, as in a run's first screen.
    peaks.sort_by_key(|m| is_process(m) || m.kind == MeasureKind::ProcessMemoryPeak);
    peaks.truncate(MOST_PEAKS);
    let values = |m: &Measure| Some([m.baseline?.value, m.candidate?.value]);
    let whose = |m: &Measure| match &m.subject {
        Subject::Memory(name) | Subject::Gpu(name) => name.clone(),
        _ => "process".into(),
    };
    let said = peaks.iter().filter_map(|m| {
        let [before, after] = values(m)?.map(size);
        Some(format!("peak {} ({})", without_unit(&before, &after), whose(m)))
    });
    let facts = peaks.iter().filter_map(|m| {
        let [before, after] = values(m)?.map(whole);
        Some(object! { source: whose(m), peak_bytes: [before, after], verdict: m.verdict })
    });
    let facts: Vec<_> = facts.collect();
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| (Labelled::new("Memory", said), facts))
}

/// What a reader has to know of the sides: what is not whole, other work, other machines, sides that may be swapped.
pub(super) fn data(report: &ComparisonReport) -> Option<String> {
    let incomplete = [("before", &report.baseline), ("after", &report.candidate)];
    let incomplete = incomplete.into_iter().filter_map(|(name, side)| incomplete_text(name, side));
    let said =
        incomplete.chain(other_work(report)).chain(other_machine(report)).chain(swapped(report));
    let said: Vec<String> = said.collect();
    crate::first_screen::joined(&said)
}

fn incomplete_text(name: &str, side: &ComparedSide) -> Option<String> {
    let n = side.incomplete().len() as u64;
    let first = side.incomplete().into_iter().next()?;
    let more = (n > 1).then(|| format!(" and {} more", n - 1));
    Some(format!("{name}: {first}{}", more.unwrap_or_default()))
}

/// A loop of which one side ran more iterations than the other.
fn other_work(report: &ComparisonReport) -> Option<String> {
    let measures = report.comparison.measures.iter();
    let mut other =
        measures.filter(|m| m.kind == MeasureKind::Iterations && m.verdict == Verdict::Different);
    let (name, m) = other.find_map(|m| match &m.subject {
        Subject::Loop(name) => Some((name, m)),
        _ => None,
    })?;
    let [before, after] = [m.baseline?.value, m.candidate?.value].map(whole);
    let after = counted(after, "iteration", "iterations");
    Some(format!("{name}: {before} → {after}, so the sides did other work"))
}

fn other_machine(report: &ComparisonReport) -> Option<String> {
    let mut differences = report.comparison.environment.iter();
    let other = differences.find(|one| one.category == EnvironmentCategory::Machine)?;
    let [before, after] = crate::compare::values(other);
    Some(format!("{} differs: {before} → {after}", other.name))
}

/// Every run of the candidate began before every run of the baseline.
fn swapped(report: &ComparisonReport) -> Option<String> {
    let starts = |side: &ComparedSide| -> Option<Vec<u64>> {
        let starts = side.runs.iter().map(|run| Some(run.start_unix_ns).filter(|ns| *ns > 0));
        starts.collect()
    };
    let before = starts(&report.baseline)?.into_iter().min()?;
    let after = starts(&report.candidate)?.into_iter().max()?;
    let earlier = before.checked_sub(after).filter(|ns| *ns >= LONG_BEFORE_NS)?;
    let days = earlier / 86_400_000_000_000;
    let earlier = match days {
        0 => duration_ns(earlier),
        days => counted(days, "day", "days"),
    };
    let [first, second] = [after, before].map(|ns| minute(ns).unwrap_or_default());
    Some(format!(
        "after was recorded {earlier} earlier than before ({first} and {second} UTC): are the sides swapped?"
    ))
}

/// `exit code 1 (--fail-on worse)`; with what made it fail where the first line does not say it. `None` where nothing could.
pub(super) fn exit_code(
    report: &ComparisonReport,
    outcome: &Outcome,
    time: Option<&ComparedTime>,
) -> Option<String> {
    if report.criteria.is_empty() {
        return None;
    }
    let is_slower = *outcome == Outcome::Slower;
    let Some(met) = report.criteria.iter().find(|one| one.is_met) else {
        let is_small = time.is_some_and(|time| is_slower && is_below_floor(report, time));
        let floor = share(report.min_change_ratio());
        let why = is_small.then(|| format!(" (below {floor})"));
        return Some(format!("exit code 0{}", why.unwrap_or_default()));
    };
    // What the tables name first of all that is the matter.
    let headlines = report.comparison.headline.iter().map(|line| line.measure);
    let mut first = headlines.filter(|at| met.measures.contains(at));
    let first = first.next().or(met.measures.first().copied());
    let first = first.and_then(|at| report.comparison.measures.get(at));
    let is_said = |m: &&Measure| is_slower && matches!(m.kind.area(), Area::Time | Area::Device);
    let first = first.filter(|m| !is_said(m) && !matches!(outcome, Outcome::Worse(_)));
    let why = first.map(|m| format!(": {}", with_change(m)));
    let why = why.unwrap_or_default();
    Some(format!("exit code 1 (--fail-on {}{why})", met.given))
}

/// What single runs do not tell.
pub(super) fn repeats(report: &ComparisonReport, outcome: &Outcome) -> Option<String> {
    let is_single = !report.are_repeats() && !outcome.is_cut_short();
    let has_ranks = !report.baseline.ranks.is_empty() || !report.candidate.ranks.is_empty();
    let said = "run each side 3 times, then compare the folders";
    (is_single && !has_ranks && *outcome != Outcome::NotKnown).then(|| said.into())
}

/// What to record to know more.
pub(super) fn not_known(
    report: &ComparisonReport,
    time: Option<&ComparedTime>,
) -> Vec<(&'static str, String)> {
    crate::first_screen::not_known([
        (!report.are_repeats(), "chance", "two or more runs a side, better five"),
        (
            time.is_some_and(|time| time.parts.is_empty()),
            "account",
            "sections; their records without losses",
        ),
        (memory(report).is_none(), "memory", "marey run, or marey.MemoryTracker"),
    ])
}
