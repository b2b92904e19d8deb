//! `recommendations` and `checks`: what is the matter, and what was looked for.

use marey_analysis::findings::{Evidence, FigureUnit, Finding, Findings};

use super::figures::Scope;
use super::object::{Json, object};
use super::seconds;

/// All of a run or session, most severe first.
pub(super) fn of(scope: Scope<'_>) -> Vec<impl Json> {
    let found = scope.activity.findings.found.iter();
    found
        .map(|finding| recommendation(scope, finding))
        .collect()
}

/// One finding. The first four keys are those that other tools know. Times are since the start of the run, or of the session.
fn recommendation<'a>(scope: Scope<'a>, found: &'a Finding) -> impl Json + use<'a> {
    let intervals = found.intervals.iter();
    let intervals = intervals.map(|time| {
        object! {
            /// Since the start of the run.
            start: seconds(time.start_ns),
            /// Since the start of the run.
            end: seconds(time.end_ns),
        }
    });
    object! {
        struct Recommendation;
        /// What it is about.
        category: found.category,
        /// How much it matters: `High`, `Medium` or `Low`.
        priority: found.severity.word(),
        /// What is the matter.
        issue: &found.issue,
        /// What could be done.
        suggestion: &found.remedy,
        /// The rule that found it.
        rule: found.rule,
        /// The figures that it rests on.
        evidence: found.evidence.iter().map(evidence).collect::<Vec<_>>(),
        /// When it was the matter, the longest of them; [] when it is about the whole run.
        intervals: intervals.collect::<Vec<_>>(),
        /// null where nothing can be said.
        saving: found.saving.as_ref().map(|saving| object! {
            /// Time that is expected to go; null when only the bound is known.
            estimate: saving.estimate_ns.map(seconds),
            /// Time that goes at most; null when it saves none.
            at_most: saving.at_most_ns.map(seconds),
            /// Memory that goes at most; null when it saves none.
            at_most_bytes: saving.at_most_bytes,
            /// How both were made.
            how: &saving.how,
        }),
        /// How sure it is.
        confidence: found.confidence,
        /// Call path that it is about; null when it is about no single one.
        section: found.node.map(|node| scope.report.call_path(node)),
    }
}

fn evidence(found: &Evidence) -> impl Json {
    let (unit, one) = unit(found.figure.unit);
    object! {
        /// What was measured.
        what: &found.what,
        /// The figure.
        value: found.figure.value / one,
        /// What it was compared with; null for a figure that only explains.
        limit: found.limit.map(|limit| limit / one),
        /// Of value and limit: `count`, `seconds`, `bytes`, `bytes_per_second`, `ratio`, `per_second`, `celsius`, `watts`, `joules`, `hertz` or
        /// `number`.
        unit: unit,
        /// The figure as people read it.
        text: found.figure.to_string(),
    }
}

/// The unit's name, and how much of the figure's own unit one of it is.
pub(super) fn unit(of: FigureUnit) -> (&'static str, f64) {
    match of {
        FigureUnit::Count => ("count", 1.0),
        FigureUnit::Ns => ("seconds", 1e9),
        FigureUnit::Bytes => ("bytes", 1.0),
        FigureUnit::BytesPerSecond => ("bytes_per_second", 1.0),
        FigureUnit::Ratio => ("ratio", 1.0),
        FigureUnit::PerSecond => ("per_second", 1.0),
        FigureUnit::Celsius => ("celsius", 1.0),
        FigureUnit::Watts => ("watts", 1.0),
        FigureUnit::Joules => ("joules", 1.0),
        FigureUnit::Hertz => ("hertz", 1.0),
        FigureUnit::Number => ("number", 1.0),
    }
}

/// What passed, and what could not be told.
pub(super) fn checks(found: &Findings) -> impl Json {
    object! { passed: &found.passed, not_checked: &found.unchecked }
}
