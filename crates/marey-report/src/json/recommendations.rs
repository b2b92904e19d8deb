//! `recommendations` and `checks`: what is the matter, and what was looked for.

use marey_analysis::findings::{
    Category, Confidence, Evidence, FigureUnit, Finding, Findings, Passed, Saving, Unchecked,
};
use serde::Serialize;

use super::figures::Scope;
use super::seconds;
use crate::figure;

/// One finding. The first four keys are those that other tools know.
#[derive(Serialize)]
pub(super) struct Recommendation<'a> {
    category: Category,
    priority: &'static str,
    issue: &'a str,
    suggestion: &'a str,
    rule: &'static str,
    evidence: Vec<EvidenceObject<'a>>,
    intervals: Vec<IntervalObject>,
    saving: Option<SavingObject<'a>>,
    confidence: Confidence,
    section: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct EvidenceObject<'a> {
    what: &'a str,
    value: f64,
    limit: Option<f64>,
    unit: &'static str,
    text: String,
}

/// Since the start of the run, or of the session.
#[derive(Serialize)]
struct IntervalObject {
    start: f64,
    end: f64,
}

#[derive(Serialize)]
struct SavingObject<'a> {
    estimate: Option<f64>,
    at_most: Option<f64>,
    at_most_bytes: Option<u64>,
    how: &'a str,
}

/// `checks` of the report.
#[derive(Serialize)]
pub(super) struct Checks<'a> {
    passed: &'a [Passed],
    not_checked: &'a [Unchecked],
}

impl<'a> Recommendation<'a> {
    /// All of a run or session, most severe first.
    pub(super) fn of(scope: Scope<'a>) -> Vec<Self> {
        let found = scope.activity.findings.found.iter();
        found.map(|finding| Self::new(scope, finding)).collect()
    }

    fn new(scope: Scope<'a>, found: &'a Finding) -> Self {
        Self {
            category: found.category,
            priority: figure::severity(found.severity),
            issue: &found.issue,
            suggestion: &found.remedy,
            rule: found.rule,
            evidence: found.evidence.iter().map(EvidenceObject::new).collect(),
            intervals: found
                .intervals
                .iter()
                .map(|time| IntervalObject {
                    start: seconds(time.start_ns),
                    end: seconds(time.end_ns),
                })
                .collect(),
            saving: found.saving.as_ref().map(SavingObject::new),
            confidence: found.confidence,
            section: found.node.map(|node| scope.report.call_path(node)),
        }
    }
}

impl<'a> EvidenceObject<'a> {
    fn new(found: &'a Evidence) -> Self {
        let (unit, factor) = unit(found.figure.unit);
        Self {
            what: &found.what,
            value: found.figure.value * factor,
            limit: found.limit.map(|limit| limit * factor),
            unit,
            text: figure::figure(found.figure),
        }
    }
}

/// The unit's name, and what a figure is multiplied by to be in it.
fn unit(of: FigureUnit) -> (&'static str, f64) {
    match of {
        FigureUnit::Count => ("count", 1.0),
        FigureUnit::Ns => ("seconds", 1e-9),
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

impl<'a> SavingObject<'a> {
    fn new(saving: &'a Saving) -> Self {
        Self {
            estimate: saving.estimate_ns.map(seconds),
            at_most: saving.at_most_ns.map(seconds),
            at_most_bytes: saving.at_most_bytes,
            how: &saving.how,
        }
    }
}

impl<'a> Checks<'a> {
    pub(super) fn new(found: &'a Findings) -> Self {
        Self {
            passed: &found.passed,
            not_checked: &found.unchecked,
        }
    }
}
