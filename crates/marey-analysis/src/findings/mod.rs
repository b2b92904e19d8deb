//! What is the matter with a run, and what could be done about it?
//!
//! A rule a file, in `rules/`. A rule looks at answers of questions, never at the clock or at anything outside the run, and
//! comes to one of three ends: it found something, it passed, or the run does not say enough to tell. All three are shown:
//! a rule that could not be checked is not a rule that passed.

mod facts;
mod finding;
mod ranks;
mod rules;
mod trace;

pub use crate::quantity::{Figure, FigureUnit};
pub use facts::Facts;
pub use finding::{
    Category, Confidence, Evidence, Finding, Findings, Outcome, Passed, Rule, Saving, Severity,
    Unchecked,
};
pub use marey::{THRESHOLDS, Threshold, ThresholdError, Thresholds};
pub use ranks::job_findings;
pub use rules::RULES;
pub use trace::{rank_findings, trace_findings};

/// Checks every rule. What was found stands with the most severe first, then with the largest saving.
pub fn findings(facts: &Facts<'_>) -> Findings {
    let checked = RULES.iter();
    collect(checked.map(|rule| (rule.id, rule.checks, (rule.check)(facts))))
}

/// What rules came to, each with its name and what it looks for.
fn collect(checked: impl Iterator<Item = (&'static str, &'static str, Outcome)>) -> Findings {
    let mut all = Findings::default();
    for (rule, checks, outcome) in checked {
        match outcome {
            Outcome::Found(found) => all.found.extend(found.into_iter().map(finite)),
            Outcome::Passed(what) => all.passed.push(Passed { rule, checks, what }),
            Outcome::Unknown(why) => all.unchecked.push(Unchecked { rule, checks, why }),
        }
    }
    let key = |finding: &Finding| (finding.severity, finding.saving.as_ref().map(Saving::bound_ns));
    all.found.sort_by_key(|finding| std::cmp::Reverse(key(finding)));
    all
}

/// The finding without figures that are none: sums beyond what floats hold.
fn finite(mut finding: Finding) -> Finding {
    finding.evidence.retain(|one| one.figure.value.is_finite());
    finding
}
