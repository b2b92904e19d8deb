//! Many runs over time as a document: each figure as a line.

use marey_analysis::compare::TrendMeasure;
use marey_analysis::findings::Figure;

use super::document::incomplete;
use super::model::TrendReport;
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
    let title = "Figures of each run, oldest first";
    let each = report.trend.measures.iter().map(|measure| {
        let values: Vec<f64> = measure.points.iter().map(|point| point.value).collect();
        (measure, values)
    });
    let figure = |value: Option<f64>, of: &TrendMeasure| {
        Cell::known(value, |value| Cell::Figure(Figure { value, unit: of.unit }))
    };
    let table = Table::of_each(
        "trend",
        title,
        each,
        &[
            ("subject", "Of", &|(of, _)| measured(&of.subject, of.kind).0),
            ("measure", "Figure", &|(of, _)| Cell::text(measured(&of.subject, of.kind).1)),
            ("n_runs", "Runs", &|(_, values)| Cell::Count(values.len() as u64)),
            ("min", "Lowest", &|(of, v)| figure(v.iter().copied().reduce(f64::min), of)),
            ("max", "Highest", &|(of, v)| figure(v.iter().copied().reduce(f64::max), of)),
            ("last", "Last", &|(of, values)| figure(values.last().copied(), of)),
            ("over_time", "Over time", &|(_, values)| Cell::text(sparkline(values, MAX_BARS))),
        ],
    );
    table.limited(MAX_ROWS).noted("Over time: a bar for each run, the newest at the right.")
}

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One bar a value, the lowest at the bottom and the highest at the top; bars of the same height where they are all the same.
/// Of more than `width` values the last ones.
///
/// ```text
/// 1 1 1 1 4 4    ▁▁▁▁██
/// ```
fn sparkline(values: &[f64], width: usize) -> String {
    let shown = &values[values.len().saturating_sub(width)..];
    let low = shown.iter().copied().fold(f64::INFINITY, f64::min);
    let high = shown.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    shown.iter().map(|value| bar(*value, low, high)).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
fn bar(value: f64, low: f64, high: f64) -> char {
    let span = high - low;
    if !span.is_finite() || span <= 0.0 {
        return BARS[3];
    }
    let height = ((value - low) / span * 7.0).round().clamp(0.0, 7.0);
    BARS[height as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_beyond_all_bounds_have_bars_too() {
        assert_eq!(sparkline(&[f64::MAX, f64::MIN], 9).chars().count(), 2);
        assert_eq!(sparkline(&[f64::NAN], 9).chars().count(), 1);
    }
}
