//! A comparison for a pull request: the verdict, what changed, and the rest folded.

use marey_analysis::compare::{Measure, SectionMatch, Verdict};

use super::environment::values;
use super::figure::{change, interval, observed};
use super::headline;
use super::model::{ComparisonReport, Criterion};
use super::rows::{by_area, changed, undecided};
use super::words;
use crate::markdown::escape::{code, text};
use crate::markdown::list::list;
use crate::markdown::table::{Column, Table};
use crate::quantity::UNKNOWN;

/// Rows of a table at most, so that the comment stays below what GitHub takes (65 536 characters).
const MAX_ROWS: usize = 50;

/// The comparison as Markdown. Ends with a line feed.
pub fn comparison_markdown(report: &ComparisonReport) -> String {
    let mut parts = vec![verdict(report)];
    parts.extend(changes(report));
    parts.extend(folded("Environment and configuration", environment(report)));
    parts.extend(folded(
        "New, gone and renamed sections",
        other_names(&report.comparison.sections),
    ));
    let open = rows(report, Verdict::CannotTell);
    let open = open.map(|table| table + "\n" + &not_told(report).unwrap_or_default());
    parts.extend(folded("What could not be told", open));
    let same = rows(report, Verdict::Same);
    parts.extend(folded("What stayed the same", same));
    parts.extend(folded(
        "What was compared, and how it was decided",
        Some(trust(report)),
    ));
    parts.join("\n")
}

/// The verdict in bold, then the other headlines, then what fails it.
fn verdict(report: &ComparisonReport) -> String {
    let lines = headline::lines(report, code, text);
    let Some((first, others)) = lines.split_first() else {
        return String::new();
    };
    let (word, rest) = first.split_once(": ").unwrap_or((first, ""));
    let mut parts = vec![format!("**{word}**: {rest}\n")];
    if !others.is_empty() {
        parts.push(list(others, MAX_ROWS));
    }
    let met = report.criteria.iter().filter(|criterion| criterion.is_met);
    let met: Vec<String> = met.map(option).collect();
    if !met.is_empty() {
        parts.push(format!("Fails {}.\n", met.join(", ")));
    }
    parts.join("\n")
}

/// A criterion as an argument of the command.
fn option(criterion: &Criterion) -> String {
    code(&format!("--fail-on {}", criterion.given))
}

fn changes(report: &ComparisonReport) -> Option<String> {
    table_of(&changed(&report.comparison))
}

/// Measures of a verdict.
fn rows(report: &ComparisonReport, verdict: Verdict) -> Option<String> {
    let areas = by_area(&report.comparison);
    let rows = areas.into_iter().flat_map(|area| area.rows);
    let rows: Vec<&Measure> = rows.filter(|m| m.verdict == verdict).collect();
    table_of(&rows)
}

/// `None` without rows.
fn table_of(measures: &[&Measure]) -> Option<String> {
    let mut table = Table::new(&[
        Column::Text("Figure"),
        Column::Figure("Baseline"),
        Column::Figure("Candidate"),
        Column::Figure("Change"),
        Column::Figure("95 %"),
        Column::Text("Verdict"),
    ]);
    for measure in measures.iter().take(MAX_ROWS) {
        table.row(vec![
            words::measured(&measure.subject, measure.kind, code),
            observed(measure.baseline.as_ref(), measure.unit),
            observed(measure.candidate.as_ref(), measure.unit),
            change(measure.change.as_ref(), measure.unit),
            interval(measure.change.as_ref()),
            words::verdict(measure.verdict).into(),
        ]);
    }
    (!table.is_empty()).then(|| table.text() + &and_more(measures.len()))
}

fn environment(report: &ComparisonReport) -> Option<String> {
    let mut table = Table::new(&[
        Column::Text("Fact"),
        Column::Text("Baseline"),
        Column::Text("Candidate"),
    ]);
    let differences = &report.comparison.environment;
    for difference in differences.iter().take(MAX_ROWS) {
        let [baseline, candidate] = values(difference).map(|value| {
            if value.is_empty() {
                return UNKNOWN.to_owned();
            }
            code(&value)
        });
        table.row(vec![code(&difference.name), baseline, candidate]);
    }
    (!table.is_empty()).then(|| table.text() + &and_more(differences.len()))
}

fn other_names(sections: &[SectionMatch]) -> Option<String> {
    let others = sections.iter().filter(|s| s.presence != Verdict::Same);
    let lines: Vec<String> = others
        .map(|section| {
            let verdict = words::verdict(section.presence);
            let path = words::call_path(&section.path, code);
            match &section.candidate_path {
                Some(there) => format!("{verdict}: {path} → {}", words::call_path(there, code)),
                None => format!("{verdict}: {path}"),
            }
        })
        .collect();
    (!lines.is_empty()).then(|| list(&lines, MAX_ROWS))
}

fn not_told(report: &ComparisonReport) -> Option<String> {
    let undecided = undecided(&report.comparison);
    let lines: Vec<String> = undecided
        .iter()
        .map(|(reason, measures)| {
            let names = measures.iter().take(3);
            let names: Vec<String> = names
                .map(|m| words::measured(&m.subject, m.kind, code))
                .collect();
            let more = measures.len().saturating_sub(3);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            format!("{}{more}: {}", names.join("; "), text(reason))
        })
        .collect();
    (!lines.is_empty()).then(|| list(&lines, MAX_ROWS))
}

fn trust(report: &ComparisonReport) -> String {
    let mut lines = vec![
        format!("Baseline: {}", report.baseline.text(code)),
        format!("Candidate: {}", report.candidate.text(code)),
        format!("Decided by: {}", text(&report.decided.text())),
    ];
    lines.extend(report.comparison.notes.iter().map(|note| text(note)));
    for (name, side) in [
        ("baseline", &report.baseline),
        ("candidate", &report.candidate),
    ] {
        let incomplete = side.incomplete(text);
        lines.extend(
            incomplete
                .iter()
                .map(|line| format!("Incomplete {name}: {line}")),
        );
    }
    for criterion in &report.criteria {
        let outcome = if criterion.is_met { "Fails" } else { "Passes" };
        lines.push(format!("{outcome}: {}", option(criterion)));
    }
    list(&lines, MAX_ROWS)
}

fn and_more(n: usize) -> String {
    match n.saturating_sub(MAX_ROWS) {
        0 => String::new(),
        left_out => format!("\nAnd {left_out} more.\n"),
    }
}

/// Something that is shown when its title is clicked.
fn folded(title: &str, content: Option<String>) -> Option<String> {
    let content = content?;
    Some(format!(
        "<details><summary>{title}</summary>\n\n{content}\n</details>\n"
    ))
}
