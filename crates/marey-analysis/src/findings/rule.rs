//! What is looked for, and what came of it.

use serde::Serialize;

use super::job_facts::JobFacts;
use super::trace_facts::TraceFacts;
use super::{Category, Confidence, Facts, Finding, Saving, Severity};
use crate::quantity::counted;

/// One thing that is looked for.
#[derive(Debug)]
pub struct Rule {
    /// Its name, in small letters with hyphens: `memory-pressure`.
    pub id: &'static str,
    /// What it is about.
    pub category: Category,
    /// What it looks for, in words that follow "checks whether".
    pub checks: &'static str,
    /// Names of the limits that it compares with, as [`THRESHOLDS`](super::THRESHOLDS) has them.
    pub limits: &'static [&'static str],
    /// What could be saved, estimate and bound.
    pub saves: &'static str,
    /// How it is checked in each kind of record that can tell.
    pub(super) of: &'static [Check],
}

/// How a rule is checked in one kind of record: what it goes by, and the function.
#[derive(Debug)]
pub(super) enum Check {
    /// Of a run, by what has to be recorded.
    Run(&'static str, fn(&Facts<'_>) -> Outcome),
    /// Of a trace, by what is measured in it.
    Trace(&'static str, fn(&TraceFacts<'_>) -> Outcome),
    /// Of a job of ranks, by what has to be recorded.
    Job(&'static str, fn(&JobFacts<'_>) -> Outcome),
}

impl Rule {
    /// What it goes by, of each kind of record that can tell: `("run", "memory of GPUs")`.
    pub fn goes_by(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.of.iter().map(|check| match check {
            Check::Run(by, _) => ("run", *by),
            Check::Trace(by, _) => ("trace", *by),
            Check::Job(by, _) => ("job", *by),
        })
    }

    /// What a run comes to; `None` where it is no rule of runs.
    pub(super) fn of_run(&self, facts: &Facts<'_>) -> Option<Outcome> {
        let check =
            |of: &Check| if let Check::Run(_, check) = of { Some(check(facts)) } else { None };
        self.of.iter().find_map(check)
    }

    /// The same of a trace.
    pub(super) fn of_trace(&self, facts: &TraceFacts<'_>) -> Option<Outcome> {
        let check =
            |of: &Check| if let Check::Trace(_, check) = of { Some(check(facts)) } else { None };
        self.of.iter().find_map(check)
    }

    /// The same of a job.
    pub(super) fn of_job(&self, facts: &JobFacts<'_>) -> Option<Outcome> {
        let check =
            |of: &Check| if let Check::Job(_, check) = of { Some(check(facts)) } else { None };
        self.of.iter().find_map(check)
    }

    /// One of its findings that takes a share of the time.
    pub(super) fn found(&self, share: f64, issue: String, remedy: &str, saving: Saving) -> Finding {
        Finding {
            severity: Severity::of_share(share),
            issue,
            remedy: remedy.into(),
            saving: Some(saving),
            ..self.finding()
        }
    }

    /// One of its findings, to be said more of: measured, of all of the record, of low severity, and saving nothing.
    pub(super) fn finding(&self) -> Finding {
        Finding {
            rule: self.id,
            category: self.category,
            severity: Severity::Low,
            issue: String::new(),
            remedy: String::new(),
            evidence: Vec::new(),
            intervals: Vec::new(),
            node: None,
            saving: None,
            confidence: Confidence::High,
        }
    }
}

/// What came of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is the matter; one finding a place, so at least one.
    Found(Vec<Finding>),
    /// It is not; in words, with the figure that was compared.
    Passed(String),
    /// The run does not say; why, in words for a user, with what to record next time.
    Unknown(String),
}

impl Outcome {
    /// Nothing was found; not known where calls are missing that could have changed that.
    pub(super) fn passed_without(n_missing: u64, what: String) -> Self {
        match n_missing {
            0 => Self::Passed(what),
            n => Self::Unknown(format!(
                "{what}, but {} not recorded one by one",
                counted(n, "call of such sections was", "calls of such sections were")
            )),
        }
    }
}

/// What all rules came to. A rule stands in one of the lists, in `found` with each of its findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Findings {
    /// Findings, most severe first.
    pub found: Vec<Finding>,
    /// Rules that found nothing.
    pub passed: Vec<Passed>,
    /// Rules that could not tell.
    pub unchecked: Vec<Unchecked>,
}

/// A rule that found nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Passed {
    /// The rule.
    pub rule: &'static str,
    /// What it looks for.
    pub checks: &'static str,
    /// What it saw instead.
    pub what: String,
}

/// A rule that could not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Unchecked {
    /// The rule.
    pub rule: &'static str,
    /// What it looks for.
    pub checks: &'static str,
    /// What is not known.
    pub why: String,
}

/// What rules came to, each with its name and what it looks for.
pub(super) fn collect(checked: impl Iterator<Item = (&'static Rule, Outcome)>) -> Findings {
    let mut all = Findings::default();
    for (rule, outcome) in checked {
        let (rule, checks) = (rule.id, rule.checks);
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
