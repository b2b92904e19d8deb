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
