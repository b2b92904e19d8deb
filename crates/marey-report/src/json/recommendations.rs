//! `recommendations` and `checks`: what is the matter, and what was looked for.

use marey_analysis::findings::{Finding, Findings};

use super::figures::Scope;
use super::object::{Json, object};
use super::{list, seconds};

/// All of a run or session, most severe first.
pub(super) fn of(scope: Scope<'_>) -> Vec<impl Json> {
    list(&scope.activity.findings.found, |finding| recommendation(scope, finding))
}

/// One finding. The first four keys are those that other tools know. Times are since the start of the run, or of the session.
fn recommendation<'a>(scope: Scope<'a>, found: &'a Finding) -> impl Json + use<'a> {
    object! {
        struct Recommendation;
        /// What it is about.
        category: found.category,
        /// How much it matters: `High`, `Medium` or `Low`.
        priority: found.severity.word(),
        /// The finding.
        issue: &found.issue,
        /// What could be done.
        suggestion: &found.remedy,
        /// The rule that found it.
        rule: found.rule,
        /// The figures that it rests on.
        evidence: &found.evidence,
        /// When it was the matter, the longest of them; [] when it is about the whole run.
        intervals: list(&found.intervals, |time| object! {
            /// Since the start of the run.
            start: seconds(time.start_ns),
            /// Since the start of the run.
            end: seconds(time.end_ns),
        }),
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

/// What passed, and what is not known.
pub(super) fn checks(found: &Findings) -> impl Json {
    object! { passed: &found.passed, not_checked: &found.unchecked }
}
