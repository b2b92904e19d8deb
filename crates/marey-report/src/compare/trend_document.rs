//! Many runs over time as a document: each figure as a line.

use marey_analysis::findings::Figure;

use super::document::incomplete;
use super::sparkline::sparkline;
use super::trend_model::TrendReport;
use super::words::measured;
use crate::document::{Block, Cell, Document, Facts, Table};

/// Rows of the table.
const MAX_ROWS: usize = 200;
/// Runs that a line has room for.
const MAX_BARS: usize = 60;

/// The figures of many runs.
pub fn trend_document(report: &TrendReport) -> Document {
    let mut facts = Facts::default();
    facts.row("Runs", report.runs.text_of("runs"));
    incomplete(&mut facts, "Incomplete", &report.runs);
    let mut found = Document::from(vec![Block::Facts(facts)]);
    found.tables([table(report)]);
    found
}

fn table(report: &TrendReport) -> Table {
    let columns = [
        ("subject", "Of"),
        ("measure", "Figure"),
        ("n_runs", "Runs"),
        ("min", "Lowest"),
        ("max", "Highest"),
        ("last", "Last"),
        ("over_time", "Over time"),
    ];
    let title = "Figures of each run, oldest first";
    let mut table = Table::new("trend", title, &columns).limited(MAX_ROWS);
    for measure in &report.trend.measures {
        let (subject, label) = measured(&measure.subject, measure.kind);
        let values: Vec<f64> = measure.points.iter().map(|point| point.value).collect();
        let unit = measure.unit;
        let figure =
            |value: Option<f64>| Cell::known(value, |value| Cell::Figure(Figure { value, unit }));
        table.row(vec![
            subject,
            Cell::text(label),
            Cell::Count(values.len() as u64),
            figure(values.iter().copied().reduce(f64::min)),
            figure(values.iter().copied().reduce(f64::max)),
            figure(values.last().copied()),
            Cell::text(sparkline(&values, MAX_BARS)),
        ]);
    }
    table.noted("Over time: a bar for each run, the newest at the right.")
}
