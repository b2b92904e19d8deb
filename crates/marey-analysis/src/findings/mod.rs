//! What is the matter with a run, a trace or a job of ranks, and what could be done about it?
//!
//! ```text
//! RULES ─┬─ of a run     Facts        answers of one process, or of what the user started
//!        ├─ of a trace   TraceFacts   kernels, calls and gaps
//!        └─ of a job     JobFacts     its ranks together; each rank has findings of its own
//! ```
//!
//! A rule a file, in `rules/`. A rule looks at answers of questions, never at the clock or at anything outside, and comes to one of three
//! ends: it found something, it passed, or the record does not say enough to tell. All three are shown: a rule that could not be checked
//! is not a rule that passed.

mod facts;
mod finding;
mod job_facts;
mod prelude;
mod rule;
mod rules;
mod trace_facts;

pub use crate::quantity::{Figure, FigureUnit};
pub use facts::Facts;
pub use finding::{Category, Confidence, Evidence, Finding, Saving, Severity};
pub use marey::{THRESHOLDS, Threshold, ThresholdError, Thresholds};
pub use rule::{Findings, Outcome, Passed, Rule, Unchecked};
pub use rules::{FORMER_RULES, RULES, hang};

use crate::ranks::JobAnswers;
use crate::{RankCommunication, TraceAnswers};
use job_facts::JobFacts;
use rule::collect;
use trace_facts::TraceFacts;

/// Checks every rule of runs. What was found stands with the most severe first, then with the largest saving.
pub fn findings(facts: &Facts<'_>) -> Findings {
    collect(RULES.iter().filter_map(|rule| Some((rule, rule.of_run(facts)?))))
}

/// The same of a trace of torch.profiler.
pub fn trace_findings(answers: &TraceAnswers, thresholds: &Thresholds) -> Findings {
    let facts = TraceFacts { answers, thresholds };
    collect(RULES.iter().filter_map(|rule| Some((rule, rule.of_trace(&facts)?))))
}

/// The same of a job of several ranks as a whole.
pub fn job_findings(job: &JobAnswers, thresholds: &Thresholds) -> Findings {
    let facts = JobFacts { job, thresholds };
    collect(RULES.iter().filter_map(|rule| Some((rule, rule.of_job(&facts)?))))
}

/// What is the matter between ranks whose traces were read one by one. `span_ns` is how long the longest of them is.
pub fn rank_findings(ranks: &RankCommunication, span_ns: u64, thresholds: &Thresholds) -> Findings {
    rules::waiting_of_traces(ranks, span_ns, thresholds)
}
