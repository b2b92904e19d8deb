//! Many runs over time as Markdown: the figures folded.

use super::figure::figure;
use super::sparkline::sparkline;
use super::trend_model::TrendReport;
use super::words;
use crate::markdown::escape::{code, text};
use crate::markdown::list::list;
use crate::markdown::table::{Column, Table};
use crate::quantity::known;

/// Rows and lines at most, so that a comment stays below what GitHub takes.
const MAX_ROWS: usize = 100;
const MAX_BARS: usize = 60;

/// The figures of many runs as Markdown. Ends with a line feed.
pub fn trend_markdown(report: &TrendReport) -> String {
    let mut runs = vec![format!("Runs: {}", report.runs.text_of("runs", code))];
    let incomplete = report.runs.incomplete(text);
    runs.extend(incomplete.iter().map(|line| format!("Incomplete: {line}")));
    let mut parts = vec![list(&runs, MAX_ROWS)];
    let table = table(report);
    if !table.is_empty() {
        parts.push(format!(
            "<details><summary>All figures</summary>\n\n{}\n</details>\n",
            table.text()
        ));
    }
    parts.join("\n")
}

fn table(report: &TrendReport) -> Table {
    let mut table = Table::new(&[
        Column::Text("Figure"),
        Column::Figure("Runs"),
        Column::Figure("First"),
        Column::Figure("Last"),
        Column::Text("Over time"),
    ]);
    for measure in report.trend.measures.iter().take(MAX_ROWS) {
        let values: Vec<f64> = measure.points.iter().map(|point| point.value).collect();
        let shown = |value: Option<&f64>| known(value, |value| figure(*value, measure.unit));
        table.row(vec![
            words::measured(&measure.subject, measure.kind, code),
            values.len().to_string(),
            shown(values.first()),
            shown(values.last()),
            sparkline(&values, MAX_BARS),
        ]);
    }
    table
}
