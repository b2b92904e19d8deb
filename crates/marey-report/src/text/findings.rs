//! What is the matter, and what could be done.

use marey_analysis::findings::{Finding, Findings};

use super::block;
use super::sections::shown_path;
use crate::escape::cut;
use crate::figure;
use crate::model::Report;
use crate::quantity::{counted, time_s};
use crate::width::{pad_end, wrapped};

const TITLE: &str = "FINDINGS";
const WIDTH: usize = 100;
/// Columns of the severity before each finding.
const INDENT: usize = 8;
/// A sentence may hold a name of any length.
const SENTENCE_WIDTH: usize = 400;
/// More than this belongs into a report, not on a terminal.
const MAX_FINDINGS: usize = 12;
/// Where the checks are by name.
const SEE: &str = "(see `checks` in profiling_report.json)";
const SEE_JSON: &str = "(--format json says why)";

/// Each finding and one line about the checks; one line when nothing was found.
pub(super) fn table(report: &Report) -> String {
    let all = &report.activity.findings;
    if all.found.is_empty() && all.passed.is_empty() {
        return format!("Findings: no check could be made {SEE}\n");
    }
    if all.found.is_empty() {
        return format!("Findings: none; {}\n", checks(all, SEE));
    }
    listed(all, SEE, |found| place(report, found))
}

/// The same of a trace. Where nothing was found, also why most checks could not be made, for a trace of the host alone has none of
/// what they look at; `None` when there are no checks.
pub(super) fn of_trace(all: &Findings) -> Option<String> {
    if !all.found.is_empty() {
        return Some(listed(all, SEE_JSON, |found| {
            time(found).map(|time| format!("Where: {time}"))
        }));
    }
    let why = most_common_reason(all);
    let made = match (all.passed.len(), all.unchecked.len()) {
        (0, 0) => return None,
        (0, _) => format!("no check could be made {SEE_JSON}"),
        _ => format!("none; {}", checks(all, SEE_JSON)),
    };
    let why = why.map_or_else(String::new, |(count, why)| {
        if count == all.unchecked.len() {
            format!(": {why}")
        } else {
            format!("; {count} of {}: {why}", all.unchecked.len())
        }
    });
    let lines = wrapped(
        &cut(&format!("Findings: {made}{why}"), SENTENCE_WIDTH),
        WIDTH,
    );
    Some(lines.join("\n") + "\n")
}

/// Why at least half of the checks that could not be made could not, with how many these are.
fn most_common_reason(all: &Findings) -> Option<(usize, &str)> {
    let count = |why: &str| all.unchecked.iter().filter(|one| one.why == why).count();
    let counted = all.unchecked.iter();
    let counted = counted.map(|one| (count(&one.why), one.why.as_str()));
    let most = counted.max_by_key(|(count, _)| *count)?;
    (most.0 * 2 >= all.unchecked.len()).then_some(most)
}

fn listed(all: &Findings, see: &str, place: impl Fn(&Finding) -> Option<String>) -> String {
    let shown = all.found.iter().take(MAX_FINDINGS);
    let lines = shown.flat_map(|found| finding(found, place(found)));
    let mut lines: Vec<String> = lines.collect();
    let more = all.found.len().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    lines.push(checks(all, see));
    block::titled(TITLE, &lines, WIDTH)
}

fn checks(all: &Findings, see: &str) -> String {
    let passed = counted(all.passed.len() as u64, "check", "checks");
    match all.unchecked.len() {
        0 => format!("{passed} passed"),
        n => format!("{passed} passed, {n} could not be made {see}"),
    }
}

/// Severity and issue, then figures, place, remedy and saving, all wrapped and indented.
fn finding(found: &Finding, place: Option<String>) -> Vec<String> {
    let figures: Vec<String> = found.evidence.iter().map(figure::evidence).collect();
    let mut details = vec![figures.join(" · ")];
    details.extend(place);
    details.push(found.remedy.clone());
    details.extend(found.saving.as_ref().map(|saving| {
        let how = &saving.how;
        match figure::saving(saving) {
            Some(amount) => format!("Saves {amount}: {how}"),
            None => format!("Saves {how}"),
        }
    }));
    let severity = figure::severity(found.severity).to_uppercase();
    let issue = sentence(&found.issue).into_iter().enumerate();
    let mut lines: Vec<String> = issue
        .map(|(at, line)| {
            let before = if at == 0 { severity.as_str() } else { "" };
            format!("{}{line}", pad_end(before, INDENT))
        })
        .collect();
    let details = details.iter().filter(|text| !text.is_empty());
    lines.extend(details.flat_map(|text| sentence(text)).map(|line| {
        let before = " ".repeat(INDENT);
        format!("{before}{line}")
    }));
    lines.push(String::new());
    lines
}

fn sentence(text: &str) -> Vec<String> {
    wrapped(&cut(text, SENTENCE_WIDTH), WIDTH - INDENT)
}

/// Where and when it was longest the matter; `None` when it is about the whole run.
fn place(report: &Report, found: &Finding) -> Option<String> {
    let path = found.node.map(|node| report.call_path(node));
    let path = path.filter(|path| !path.is_empty());
    let path = path.map(|path| format!("in {}", shown_path(&path, 60)));
    let parts: Vec<String> = path.into_iter().chain(time(found)).collect();
    (!parts.is_empty()).then(|| format!("Where: {}", parts.join(", ")))
}

/// When it was longest the matter; `None` when it is about all of the time.
fn time(found: &Finding) -> Option<String> {
    let longest = found.intervals.iter().max_by_key(|time| time.length_ns());
    longest.map(|time| {
        let (start, end) = (time_s(time.start_ns), time_s(time.end_ns));
        let is_moment = start == end;
        let when = if is_moment {
            format!("at {start} s")
        } else {
            format!("{start} to {end} s")
        };
        let more = if found.intervals.len() > 1 {
            ", and at other times"
        } else {
            ""
        };
        when + more
    })
}

#[cfg(test)]
mod tests {
    use marey_analysis::findings::{Passed, Unchecked};

    use super::*;

    fn unchecked(whys: &[&str]) -> Vec<Unchecked> {
        let one = |why: &&str| Unchecked {
            rule: "rule",
            checks: "something",
            why: (*why).to_owned(),
        };
        whys.iter().map(one).collect()
    }

    #[test]
    fn a_trace_of_which_nothing_can_be_said_says_why() {
        let mut all = Findings {
            found: Vec::new(),
            passed: Vec::new(),
            unchecked: unchecked(&["no device", "no device", "one rank"]),
        };
        assert_eq!(
            of_trace(&all).unwrap(),
            "Findings: no check could be made (--format json says why); 2 of 3: no device\n"
        );
        all.passed.push(Passed {
            rule: "late-compile",
            checks: "something",
            what: "nothing was compiled".into(),
        });
        assert_eq!(
            of_trace(&all).unwrap(),
            "Findings: none; 1 check passed, 3 could not be made (--format json says why); 2 of 3: no device\n"
        );
    }

    #[test]
    fn reasons_that_few_checks_have_are_left_to_json_and_without_checks_there_is_no_line() {
        let all = Findings {
            found: Vec::new(),
            passed: Vec::new(),
            unchecked: unchecked(&["a", "b", "c"]),
        };
        assert_eq!(
            of_trace(&all).unwrap(),
            "Findings: no check could be made (--format json says why)\n"
        );
        let none = Findings {
            found: Vec::new(),
            passed: Vec::new(),
            unchecked: Vec::new(),
        };
        assert_eq!(of_trace(&none), None);
    }
}
