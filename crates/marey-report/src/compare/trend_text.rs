//! Many runs over time on a terminal: what changed and when, then each figure as a line.

use marey_analysis::compare::TrendMeasure;

use super::figure::figure;
use super::sparkline::sparkline;
use super::trend_model::{TrendReport, lines};
use super::words;
use crate::escape::{cut, visible};
use crate::quantity::{UNKNOWN, counted};
use crate::text::columns::{Columns, Last};

const MAX_NAME: usize = 60;
/// Runs that a line has room for.
const MAX_BARS: usize = 60;
/// Rows of the table at most.
const MAX_ROWS: usize = 200;

/// The figures of many runs as text. Its first lines say what changed. Ends with a line feed.
pub fn trend_text(report: &TrendReport) -> String {
    let mut all = changes(report);
    all.push(String::new());
    all.push(format!("Runs: {}", report.runs.text_of("runs", visible)));
    let incomplete = report.runs.incomplete(visible);
    all.extend(
        incomplete
            .iter()
            .take(MAX_ROWS)
            .map(|line| format!("Incomplete: {line}")),
    );
    let text = all.join("\n") + "\n";
    match table(report) {
        Some(table) => format!("{text}\n{table}"),
        None => text,
    }
}

fn changes(report: &TrendReport) -> Vec<String> {
    let changed = report.changed();
    if changed.is_empty() {
        let n = report.trend.measures.len() as u64;
        return vec![format!(
            "No change that stayed, in {}",
            counted(n, "figure", "figures")
        )];
    }
    let shown = |name: &str| cut(name, MAX_NAME);
    let lines = changed.into_iter().flat_map(|measure| {
        let name = name(measure);
        let lines = lines(measure, shown).into_iter();
        lines.map(move |line| format!("{name}: {line}"))
    });
    lines.collect()
}

fn table(report: &TrendReport) -> Option<String> {
    let headers = ["Figure", "Runs", "Lowest", "Highest", "Last", "Over time"];
    let mut table = Columns::new(&headers, Last::Text);
    let measures = &report.trend.measures;
    for measure in measures.iter().take(MAX_ROWS) {
        table.row(row(measure));
    }
    let left_out = measures.len().saturating_sub(MAX_ROWS) as u64;
    let mut notes = vec![
        "Over time: a bar a run, the newest at the right; ! is the first run of a change."
            .to_owned(),
    ];
    if left_out > 0 {
        notes.push(format!(
            "And {} more; JSON has all of them.",
            counted(left_out, "figure", "figures")
        ));
    }
    (!measures.is_empty()).then(|| table.block("TREND - Figures of Each Run, Oldest First", &notes))
}

fn row(measure: &TrendMeasure) -> Vec<String> {
    let values: Vec<f64> = measure.points.iter().map(|point| point.value).collect();
    let shown = |value: Option<f64>| {
        value.map_or_else(|| UNKNOWN.to_owned(), |value| figure(value, measure.unit))
    };
    vec![
        name(measure),
        values.len().to_string(),
        shown(values.iter().copied().reduce(f64::min)),
        shown(values.iter().copied().reduce(f64::max)),
        shown(values.last().copied()),
        marked(measure, &values),
    ]
}

/// The line of bars, with a mark before the first run of each change.
fn marked(measure: &TrendMeasure, values: &[f64]) -> String {
    let first = values.len().saturating_sub(MAX_BARS);
    let is_change = |index: usize| measure.changes.iter().any(|change| change.index == index);
    let bars = sparkline(values, MAX_BARS);
    let bars = bars.chars().enumerate();
    bars.flat_map(|(bar, shown)| {
        let mark = is_change(first + bar).then_some('!');
        mark.into_iter().chain([shown])
    })
    .collect()
}

fn name(measure: &TrendMeasure) -> String {
    words::measured(&measure.subject, measure.kind, |name| cut(name, MAX_NAME))
}
