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

/// Rows of a table at most: of these the first with which a comment stays below what GitHub takes (65 536 characters).
const ROWS: [usize; 4] = [50, 25, 10, 3];
/// Bytes of a comment, so that there is room for a few words around it.
const MAX_BYTES: usize = 60_000;
/// Characters of a name.
const MAX_NAME: usize = 80;

/// The comparison as Markdown, what matters most first, below 60 kB: tables are as long as that allows. Ends with a line feed.
pub fn comparison_markdown(report: &ComparisonReport) -> String {
    let all = ROWS.iter().map(|rows| parts(report, *rows));
    let mut shortest = Vec::new();
    for parts in all {
        let text = parts.join("\n");
        if text.len() < MAX_BYTES {
            return text;
        }
        shortest = parts;
    }
    // Whole sections from the end, so that what is left is still whole.
    let length = |parts: &[String]| parts.iter().map(|part| part.len() + 1).sum::<usize>();
    while shortest.len() > 1 && length(&shortest) >= MAX_BYTES {
        shortest.pop();
    }
    shortest.join("\n")
}

fn parts(report: &ComparisonReport, max_rows: usize) -> Vec<String> {
    let mut parts = vec![verdict(report, max_rows)];
    parts.extend(changes(report, max_rows));
    parts.extend(folded(
        "Environment and configuration",
        environment(report, max_rows),
    ));
    parts.extend(folded(
        "New, gone and renamed sections",
        other_names(&report.comparison.sections, max_rows),
    ));
    let open = rows(report, Verdict::CannotTell, max_rows);
    let open = open.map(|table| table + "\n" + &not_told(report, max_rows).unwrap_or_default());
    parts.extend(folded("What could not be told", open));
    let same = rows(report, Verdict::Same, max_rows);
    parts.extend(folded("What stayed the same", same));
    parts.extend(folded(
        "What was compared, and how it was decided",
        Some(trust(report, max_rows)),
    ));
    parts
}

/// A name as code.
fn short(name: &str) -> String {
    code(&words::shortened(name, MAX_NAME))
}

/// The verdict in bold, with what a reader has to know of it, then the other headlines, then what fails it.
fn verdict(report: &ComparisonReport, max_rows: usize) -> String {
    let lines = headline::lines(report, short, text);
    let Some((first, others)) = lines.split_first() else {
        return String::new();
    };
    let (word, rest) = first.split_once(": ").unwrap_or((first, ""));
    let mut parts = vec![format!("**{word}**: {rest}\n")];
    let notes = report.comparison.notes.iter();
    parts.extend(notes.map(|note| format!("{}\n", text(note))));
    if !others.is_empty() {
        parts.push(list(others, max_rows));
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

fn changes(report: &ComparisonReport, max_rows: usize) -> Option<String> {
    table_of(&changed(&report.comparison), max_rows)
}

/// Measures of a verdict.
fn rows(report: &ComparisonReport, verdict: Verdict, max_rows: usize) -> Option<String> {
    let areas = by_area(&report.comparison);
    let rows = areas.into_iter().flat_map(|area| area.rows);
    let rows: Vec<&Measure> = rows.filter(|m| m.verdict == verdict).collect();
    table_of(&rows, max_rows)
}

/// `None` without rows.
fn table_of(measures: &[&Measure], max_rows: usize) -> Option<String> {
    let mut table = Table::new(&[
        Column::Text("Figure"),
        Column::Figure("Baseline"),
        Column::Figure("Candidate"),
        Column::Figure("Change"),
        Column::Figure("95 %"),
        Column::Text("Verdict"),
    ]);
    for measure in measures.iter().take(max_rows) {
        table.row(vec![
            words::measured(&measure.subject, measure.kind, short),
            observed(measure.baseline.as_ref(), measure.unit),
            observed(measure.candidate.as_ref(), measure.unit),
            change(measure.change.as_ref(), measure.unit),
            interval(measure.change.as_ref()),
            words::verdict(measure.verdict).into(),
        ]);
    }
    (!table.is_empty()).then(|| table.text() + &and_more(measures.len(), max_rows))
}

fn environment(report: &ComparisonReport, max_rows: usize) -> Option<String> {
    let mut table = Table::new(&[
        Column::Text("Fact"),
        Column::Text("Baseline"),
        Column::Text("Candidate"),
    ]);
    let differences = &report.comparison.environment;
    for difference in differences.iter().take(max_rows) {
        let [baseline, candidate] = values(difference).map(|value| {
            if value.is_empty() {
                return UNKNOWN.to_owned();
            }
            code(&value)
        });
        table.row(vec![code(&difference.name), baseline, candidate]);
    }
    (!table.is_empty()).then(|| table.text() + &and_more(differences.len(), max_rows))
}

fn other_names(sections: &[SectionMatch], max_rows: usize) -> Option<String> {
    let others = sections.iter().filter(|s| s.presence != Verdict::Same);
    let lines: Vec<String> = others
        .map(|section| {
            let verdict = words::verdict(section.presence);
            let path = words::call_path(&section.path, short);
            match &section.candidate_path {
                Some(there) => format!("{verdict}: {path} → {}", words::call_path(there, short)),
                None => format!("{verdict}: {path}"),
            }
        })
        .collect();
    (!lines.is_empty()).then(|| list(&lines, max_rows))
}

fn not_told(report: &ComparisonReport, max_rows: usize) -> Option<String> {
    let undecided = undecided(&report.comparison);
    let lines: Vec<String> = undecided
        .iter()
        .map(|(reason, measures)| {
            let names = measures.iter().take(3);
            let names: Vec<String> = names
                .map(|m| words::measured(&m.subject, m.kind, short))
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
    (!lines.is_empty()).then(|| list(&lines, max_rows))
}

fn trust(report: &ComparisonReport, max_rows: usize) -> String {
    let mut lines = vec![
        format!("Baseline: {}", report.baseline.text(code)),
        format!("Candidate: {}", report.candidate.text(code)),
        format!("Decided by: {}", text(&report.decided.text())),
    ];
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
    list(&lines, max_rows)
}

fn and_more(n: usize, max_rows: usize) -> String {
    match n.saturating_sub(max_rows) {
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
