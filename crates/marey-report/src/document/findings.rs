//! What is the matter, in words.

use marey_analysis::Interval;
use marey_analysis::findings::{Finding, Findings};
use serde::Serialize;

use crate::quantity::{counted, time_s};

/// More than this belongs into a page, and into a report for programs.
const MAX_FINDINGS: usize = 12;

/// What rules found, and how many of them there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ListedFindings {
    /// All of them, the most severe first.
    pub found: Vec<ListedFinding>,
    /// How many checks passed, and how many could not be made; with the most common reason where nothing was found.
    pub checks: String,
}

/// One finding. Not safe to print.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ListedFinding {
    /// `High`.
    pub severity: &'static str,
    /// The finding in one sentence.
    pub issue: String,
    /// Its figures; empty when there are none.
    pub evidence: String,
    /// Where and when; `None` when it is about all of the time.
    pub place: Option<String>,
    /// The call path that the place names; `None` when it names none.
    pub node: Option<u32>,
    /// When it was longest the matter, for formats that lead there; `None` when it is about all of the time.
    pub longest: Option<Interval>,
    /// What could be done.
    pub remedy: String,
    /// What that saves, and how it was estimated.
    pub saving: Option<String>,
}

impl ListedFindings {
    /// `None` where there are no rules at all. `place` says where a finding is, beside when: a call path, safe or not.
    pub fn new(all: &Findings, place: impl Fn(&Finding) -> Option<String>) -> Option<Self> {
        if all.found.is_empty() && all.passed.is_empty() && all.unchecked.is_empty() {
            return None;
        }
        let each = all.found.iter();
        Some(Self {
            found: each.map(|one| ListedFinding::new(one, place(one))).collect(),
            checks: checks(all),
        })
    }

    /// The most severe ones, and how many more there are.
    pub(crate) fn first(&self) -> (&[ListedFinding], usize) {
        let n = self.found.len().min(MAX_FINDINGS);
        (&self.found[..n], self.found.len() - n)
    }
}

impl ListedFinding {
    fn new(found: &Finding, path: Option<String>) -> Self {
        let evidence: Vec<String> = found.evidence.iter().map(ToString::to_string).collect();
        let node = found.node.filter(|_| path.is_some());
        let path = path.map(|path| format!("in {path}"));
        let longest = found.intervals.iter().max_by_key(|time| time.length_ns()).copied();
        let time = longest.map(|longest| time(found, longest));
        let place: Vec<String> = path.into_iter().chain(time).collect();
        let saving = found.saving.as_ref().map(|saving| {
            let how = &saving.how;
            match saving.text() {
                Some(amount) => format!("{amount}: {how}"),
                None => how.clone(),
            }
        });
        Self {
            severity: found.severity.word(),
            issue: found.issue.clone(),
            evidence: evidence.join(" · "),
            place: (!place.is_empty()).then(|| place.join(", ")),
            node,
            longest,
            remedy: found.remedy.clone(),
            saving,
        }
    }
}

/// When it was longest the matter.
fn time(found: &Finding, longest: Interval) -> String {
    let (start, end) = (time_s(longest.start_ns), time_s(longest.end_ns));
    let when = if start == end { format!("at {start} s") } else { format!("{start} to {end} s") };
    let several = found.intervals.len() > 1;
    when + if several { ", and at other times" } else { "" }
}

/// `29 checks passed, 3 could not be made (--format json says why)`.
fn checks(all: &Findings) -> String {
    const SEE: &str = "(--format json says why)";
    let passed = counted(all.passed.len() as u64, "check", "checks") + " passed";
    let made = match (all.passed.len(), all.unchecked.len()) {
        (_, 0) => passed,
        (0, _) if all.found.is_empty() => format!("no check could be made {SEE}"),
        (_, n) => format!("{passed}, {n} could not be made {SEE}"),
    };
    match most_common_reason(all).filter(|_| all.found.is_empty()) {
        Some((n, why)) if n == all.unchecked.len() => format!("{made}: {why}"),
        Some((n, why)) => format!("{made}; {n} of {}: {why}", all.unchecked.len()),
        None => made,
    }
}

/// Why at least half of the checks that could not be made could not, with how many these are.
fn most_common_reason(all: &Findings) -> Option<(usize, &str)> {
    let count = |why: &str| all.unchecked.iter().filter(|one| one.why == why).count();
    let counted = all.unchecked.iter();
    let counted = counted.map(|one| (count(&one.why), one.why.as_str()));
    let most = counted.max_by_key(|(count, _)| *count)?;
    (most.0 * 2 >= all.unchecked.len()).then_some(most)
}

#[cfg(test)]
mod tests {
    use marey_analysis::findings::{Passed, Unchecked};

    use super::*;

    fn unchecked(whys: &[&str]) -> Findings {
        let one =
            |why: &&str| Unchecked { rule: "rule", checks: "something", why: (*why).to_owned() };
        Findings { unchecked: whys.iter().map(one).collect(), ..Findings::default() }
    }

    fn said(all: &Findings) -> String {
        ListedFindings::new(all, |_| None).unwrap().checks
    }

    #[test]
    fn what_nothing_can_be_said_of_says_why() {
        let mut all = unchecked(&["no device", "no device", "one rank"]);
        assert_eq!(
            said(&all),
            "no check could be made (--format json says why); 2 of 3: no device"
        );
        all.passed.push(Passed {
            rule: "late-compile",
            checks: "something",
            what: "nothing was compiled".into(),
        });
        assert_eq!(
            said(&all),
            "1 check passed, 3 could not be made (--format json says why); 2 of 3: no device"
        );
    }

    #[test]
    fn reasons_that_few_checks_have_are_left_to_json_and_without_rules_there_is_nothing() {
        let all = unchecked(&["a", "b", "c"]);
        assert_eq!(said(&all), "no check could be made (--format json says why)");
        assert_eq!(ListedFindings::new(&Findings::default(), |_| None), None);
    }
}
