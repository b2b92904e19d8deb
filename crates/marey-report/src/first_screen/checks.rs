//! What was looked for, where nothing costs enough to be a finding.

use super::{Mood, Sentence};
use crate::json::object::{Json, object};
use crate::quantity::{counted, share};

/// Fewer that passed are no reason to be content.
const FEW: u64 = 3;
/// Checks that are named.
const MOST_CHECKS: usize = 9;

/// What was looked for, where nothing was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    /// Rules that found nothing.
    pub passed: Vec<&'static str>,
    /// How many could not tell.
    pub n_skipped: u64,
    /// Those of them that fit what was recorded: a check of GPUs does not fit a program without one.
    pub n_open: u64,
    /// What was not recorded that they are about.
    pub missing: Vec<&'static str>,
    /// Findings that cost too little for the first screen.
    pub n_small: u64,
    /// A device that did nothing for a fifth of the time or more, and for which share of it.
    pub idle: Option<(String, f64)>,
}

impl Checks {
    /// `No issues found in 9 checks: …`, then `20 checks skipped: …` with the reasons.
    pub(crate) fn sentences(&self) -> Vec<Sentence> {
        let n = self.passed.len() as u64;
        let all = counted(n, "check", "checks");
        let first = match (n, &self.idle) {
            (0, _) => "No check could be made: too little was recorded.".into(),
            (_, Some((device, ratio))) => {
                let idle = share(*ratio);
                format!("{all} found nothing, but {device} was idle for {idle} of the time.")
            }
            _ if self.n_small > 0 => {
                let small = counted(self.n_small, "small finding", "small findings");
                format!("No finding costs 5 % of the run; {all} passed. {small}: --full.")
            }
            _ if self.n_open > n => format!(
                "Only {n} of {} checks could be made; they found nothing: {}.",
                n + self.n_open,
                self.names()
            ),
            _ if n < FEW => {
                let names = self.names();
                format!("Only {all} can be made of what was recorded: {names} found nothing.")
            }
            _ => format!("No issues found in {all}: {}.", self.names()),
        };
        let is_good = n >= FEW.max(self.n_open) && self.n_small == 0 && self.idle.is_none();
        let mood = if is_good { Mood::Good } else { Mood::Plain };
        let first = Sentence { mood, ..Sentence::plain(first) };
        [Some(first), self.skipped()].into_iter().flatten().collect()
    }

    fn names(&self) -> String {
        let names = self.passed.iter().map(|rule| rule.replace('-', " "));
        let mut names: Vec<String> = names.collect();
        if names.len() > MOST_CHECKS {
            let more = names.split_off(MOST_CHECKS).len();
            names.push(format!("{more} more"));
        }
        names.join(", ")
    }

    fn skipped(&self) -> Option<Sentence> {
        let missing = match self.missing.as_slice() {
            [] => return None,
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
        };
        let skipped = counted(self.n_skipped, "check", "checks");
        (self.n_skipped > 0).then(|| Sentence {
            may_go: true,
            ..Sentence::plain(format!("{skipped} skipped: no {missing} were recorded."))
        })
    }

    /// For programs.
    pub(super) fn facts(&self) -> impl Json + use<> {
        object! {
            /// Which checks were made.
            struct Checked;
            /// Rules that found nothing.
            passed: self.passed.clone(),
            /// How many could not be made.
            skipped: self.n_skipped,
        }
    }
}
