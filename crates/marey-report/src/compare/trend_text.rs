//! Many runs over time on a terminal: each figure as a line.

use marey_analysis::compare::TrendMeasure;

use super::figure::figure;
use super::sparkline::sparkline;
use super::trend_model::TrendReport;
use super::words;
use crate::escape::{cut, visible};
use crate::quantity::{UNKNOWN, counted};
use crate::text::columns::{Columns, Last};

const MAX_NAME: usize = 60;
/// Runs that a line has room for.
const MAX_BARS: usize = 60;
/// Rows of the table at most.
const MAX_ROWS: usize = 200;

/// The figures of many runs as text. Ends with a line feed.
pub fn trend_text(report: &TrendReport) -> String {
    let mut all = vec![format!("Runs: {}", report.runs.text_of("runs", visible))];
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

fn table(report: &TrendReport) -> Option<String> {
    let headers = ["Figure", "Runs", "Lowest", "Highest", "Last", "Over time"];
    let mut table = Columns::new(&headers, Last::Text);
    let measures = &report.trend.measures;
    for measure in measures.iter().take(MAX_ROWS) {
        table.row(row(measure));
    }
    let left_out = measures.len().saturating_sub(MAX_ROWS) as u64;
    let mut notes = vec!["Over time: a bar a run, the newest at the right.".to_owned()];
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
        sparkline(&values, MAX_BARS),
    ]
}

fn name(measure: &TrendMeasure) -> String {
    words::measured(&measure.subject, measure.kind, |name| cut(name, MAX_NAME))
}
