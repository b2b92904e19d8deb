//! `recommendations` and `checks`: what is the matter, and what was looked for.

use marey_analysis::findings::{Evidence, FigureUnit, Finding, Findings};
use serde::Serialize;

use super::figures::Scope;
use super::object::object;
use super::seconds;
use crate::figure;

/// All of a run or session, most severe first.
pub(super) fn of(scope: Scope<'_>) -> Vec<impl Serialize> {
    let found = scope.activity.findings.found.iter();
    found
        .map(|finding| recommendation(scope, finding))
        .collect()
}

/// One finding. The first four keys are those that other tools know. Times are since the start of the run, or of the session.
fn recommendation<'a>(scope: Scope<'a>, found: &'a Finding) -> impl Serialize + use<'a> {
    let intervals = found.intervals.iter();
    let intervals = intervals.map(|time| {
        object! {
            start: seconds(time.start_ns),
            end: seconds(time.end_ns),
        }
    });
    object! {
        category: found.category,
        priority: figure::severity(found.severity),
        issue: &found.issue,
        suggestion: &found.remedy,
        rule: found.rule,
        evidence: found.evidence.iter().map(evidence).collect::<Vec<_>>(),
        intervals: intervals.collect::<Vec<_>>(),
        saving: found.saving.as_ref().map(|saving| object! {
            estimate: saving.estimate_ns.map(seconds),
            at_most: saving.at_most_ns.map(seconds),
            at_most_bytes: saving.at_most_bytes,
            how: &saving.how,
        }),
        confidence: found.confidence,
        section: found.node.map(|node| scope.report.call_path(node)),
    }
}

fn evidence(found: &Evidence) -> impl Serialize {
    let (unit, one) = unit(found.figure.unit);
    object! {
        what: &found.what,
        value: found.figure.value / one,
        limit: found.limit.map(|limit| limit / one),
        unit: unit,
        text: figure::figure(found.figure),
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
pub(super) fn checks(found: &Findings) -> impl Serialize {
    object! { passed: &found.passed, not_checked: &found.unchecked }
}
