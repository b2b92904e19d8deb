//! A comparison on a terminal: what matters, what differs around it, then everything by area, then how far to trust it.

use marey_analysis::compare::{Comparison, Measure, SectionMatch, Verdict};

use super::environment::values;
use super::figure::{change, interval, observed};
use super::model::ComparisonReport;
use super::rows::{by_area, has_changed, undecided};
use super::words::{self, shortened};
use super::{figures, headline};
use crate::escape::visible;
use crate::quantity::UNKNOWN;
use crate::text::columns::{Columns, Last};

/// Columns of a terminal that a name or a value takes at most.
const MAX_NAME: usize = 60;
/// Columns of a reason to fail; a program may give a whole page.
const MAX_REASON: usize = 300;
/// Lines of one kind at most, where there can be thousands.
const MAX_LINES: usize = 20;

/// The comparison as text. Its first lines say what matters most. Ends with a line feed.
pub fn comparison_text(report: &ComparisonReport) -> String {
    let mut first = headline::lines(
        report,
        |name| shortened(name, MAX_NAME),
        |text| shortened(text, MAX_REASON),
    );
    // What a reader has to know of the verdict, beside it.
    let notes = report.comparison.notes.iter();
    let notes = notes.map(|note| format!("Note: {}", visible(note)));
    first.extend(notes);
    let mut parts = vec![lines(&first), lines(&sides(report))];
    parts.extend(environment(report));
    parts.extend(tables(&report.comparison));
    parts.extend(other_names(&report.comparison.sections));
    parts.extend(not_told(report));
    parts.push(lines(&trust(report)));
    parts.join("\n")
}

fn lines(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

fn sides(report: &ComparisonReport) -> Vec<String> {
    vec![
        format!("Baseline:  {}", report.baseline.text(visible)),
        format!("Candidate: {}", report.candidate.text(visible)),
    ]
}

fn environment(report: &ComparisonReport) -> Option<String> {
    let mut table = Columns::new(&["Fact", "Baseline", "Candidate"], Last::Figure);
    for difference in &report.comparison.environment {
        let [baseline, candidate] =
            values(difference).map(|value| or_unknown(shortened(&value, MAX_NAME)));
        table.row(vec![
            shortened(&difference.name, MAX_NAME),
            baseline,
            candidate,
        ]);
    }
    let is_empty = report.comparison.environment.is_empty();
    (!is_empty).then(|| table.block("ENVIRONMENT AND CONFIGURATION - What Differs", &[]))
}

/// What changed, by area; then what could not be told; then how much is the same.
fn tables(comparison: &Comparison) -> Vec<String> {
    let areas = by_area(comparison);
    let mut found: Vec<String> = Vec::new();
    for area in &areas {
        let rows = area.rows.iter().copied().filter(|m| has_changed(m));
        found.extend(table(&words::area(area.area).to_uppercase(), rows));
    }
    let rows = areas.iter().flat_map(|area| area.rows.iter().copied());
    let open = rows.filter(|m| m.verdict == Verdict::CannotTell);
    found.extend(table("CANNOT TELL", open));
    let same = comparison.measures.iter();
    match same.filter(|m| m.verdict == Verdict::Same).count() {
        0 => {}
        1 => found.push("1 figure is the same (--format json has it).\n".into()),
        n => found.push(format!(
            "{n} figures are the same (--format json has them).\n"
        )),
    }
    found
}

/// `None` without rows.
fn table<'a>(title: &str, rows: impl Iterator<Item = &'a Measure>) -> Option<String> {
    let headers = [
        "Figure",
        "Baseline",
        "Candidate",
        "Change",
        "95 %",
        "Verdict",
    ];
    let mut table = Columns::new(&headers, Last::Text);
    let rows: Vec<&Measure> = rows.collect();
    for (measure, name) in rows.iter().zip(figures::names(&rows)) {
        table.row(row(measure, name));
    }
    (!rows.is_empty()).then(|| table.block(title, &[]))
}

fn row(measure: &Measure, name: String) -> Vec<String> {
    vec![
        name,
        observed(measure.baseline.as_ref(), measure.unit),
        observed(measure.candidate.as_ref(), measure.unit),
        change(measure.change.as_ref(), measure.unit),
        interval(measure.change.as_ref()),
        words::verdict(measure.verdict).into(),
    ]
}

/// Sections that only one side has, or that have another name there.
fn other_names(sections: &[SectionMatch]) -> Option<String> {
    let others = sections.iter().filter(|s| s.presence != Verdict::Same);
    let others: Vec<&SectionMatch> = others.collect();
    if others.is_empty() {
        return None;
    }
    let mut found =
        vec!["Sections that only one side has, or that have another name there:".to_owned()];
    found.extend(
        others
            .iter()
            .take(MAX_LINES)
            .map(|section| other_name(section)),
    );
    found.extend(and_more(others.len()));
    Some(lines(&found))
}

fn other_name(section: &SectionMatch) -> String {
    let shown = |name: &str| shortened(name, MAX_NAME);
    let path = words::call_path(&section.path, shown);
    let verdict = words::verdict(section.presence);
    match &section.candidate_path {
        Some(there) => format!("  {verdict}: {path} → {}", words::call_path(there, shown)),
        None => format!("  {verdict}: {path}"),
    }
}

fn not_told(report: &ComparisonReport) -> Option<String> {
    let undecided = undecided(&report.comparison);
    if undecided.is_empty() {
        return None;
    }
    let mut found = vec![format!("Cannot tell; {}:", report.decided.remedy())];
    for (reason, measures) in undecided.iter().take(MAX_LINES) {
        let shown = |name: &str| shortened(name, MAX_NAME);
        let names = measures.iter().take(3);
        let names: Vec<String> = names
            .map(|m| words::measured(&m.subject, m.kind, shown))
            .collect();
        let more = measures.len().saturating_sub(3);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        found.push(format!("  {}{more}: {}", names.join("; "), visible(reason)));
    }
    found.extend(and_more(undecided.len()));
    Some(lines(&found))
}

fn and_more(n: usize) -> Option<String> {
    let left_out = n.saturating_sub(MAX_LINES);
    (left_out > 0).then(|| format!("  and {left_out} more"))
}

/// How it was decided, how far the data goes, and whether it passes.
fn trust(report: &ComparisonReport) -> Vec<String> {
    let mut found = vec![format!("Decided by: {}", report.decided.text())];
    for (name, side) in [
        ("baseline", &report.baseline),
        ("candidate", &report.candidate),
    ] {
        let incomplete = side.incomplete(visible);
        let shown = incomplete.iter().take(MAX_LINES);
        found.extend(shown.map(|line| format!("Incomplete {name}: {line}")));
        found.extend(and_more(incomplete.len()));
    }
    found.extend(verdict_of_criteria(report));
    found
}

/// Whether each criterion is met.
fn verdict_of_criteria(report: &ComparisonReport) -> Vec<String> {
    let criteria = report.criteria.iter();
    criteria
        .map(|criterion| {
            let given = visible(&criterion.given);
            if !criterion.is_met {
                return format!("Passes: --fail-on {given}");
            }
            let measures = &report.comparison.measures;
            let met = criterion
                .measures
                .iter()
                .filter_map(|index| measures.get(*index));
            let names: Vec<String> = met
                .take(3)
                .map(|m| {
                    let name =
                        words::measured(&m.subject, m.kind, |name| shortened(name, MAX_NAME));
                    format!("{name} {}", change(m.change.as_ref(), m.unit))
                })
                .collect();
            let more = criterion.measures.len().saturating_sub(3);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            let obstacles = &report.comparison.obstacles;
            let grave = obstacles.iter().find(|one| one.verdict == Verdict::Worse);
            let why = if let Some(grave) = grave {
                format!(": {}", shortened(&grave.text, MAX_REASON))
            } else if names.is_empty() {
                String::new()
            } else {
                format!(": {}{more}", names.join("; "))
            };
            format!("Fails: --fail-on {given}{why}")
        })
        .collect()
}

fn or_unknown(text: String) -> String {
    if text.is_empty() {
        UNKNOWN.into()
    } else {
        text
    }
}
