//! All that is shown of many runs over time, once.

use marey_analysis::compare::{ChangePoint, Trend, TrendMeasure, TrendPoint};
use serde::Serialize;

use super::date::minute;
use super::figure::{figure, ratio};
use super::model::ComparedSide;
use super::words;
use crate::quantity::UNKNOWN;

/// Figures of many runs over time, and where they come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendReport {
    /// What was found.
    pub trend: Trend,
    /// The runs, by the path that they were looked for below.
    pub runs: ComparedSide,
}

impl TrendReport {
    /// Of the runs below a path.
    pub fn new(trend: Trend, runs: ComparedSide) -> Self {
        Self { trend, runs }
    }

    /// Measures that changed or creep, those that changed last first; measures that changed at the same run stay in their
    /// order.
    pub(crate) fn changed(&self) -> Vec<&TrendMeasure> {
        let measures = self.trend.measures.iter();
        let has_changed = |m: &&TrendMeasure| !m.changes.is_empty() || m.drift_ratio.is_some();
        let mut changed: Vec<&TrendMeasure> = measures.filter(has_changed).collect();
        changed.sort_by_key(|measure| std::cmp::Reverse(last_change(measure)));
        changed
    }
}

fn last_change(measure: &TrendMeasure) -> Option<u64> {
    let change = measure.changes.last()?;
    Some(measure.points.get(change.index)?.at_unix_ns)
}

/// What became of a measure, in words, a line each, the newest first. Names pass through `shown`.
pub(crate) fn lines(measure: &TrendMeasure, shown: impl Fn(&str) -> String) -> Vec<String> {
    let changes = measure.changes.iter().rev();
    let mut lines: Vec<String> = changes
        .map(|change| change_text(measure, change, &shown))
        .collect();
    lines.extend(measure.drift_ratio.and_then(|by| drift_text(measure, by)));
    lines
}

/// A creeping figure in words: `creeps, +12.0 % over 30 runs: 10.0 ms → 11.2 ms`.
fn drift_text(measure: &TrendMeasure, by: f64) -> Option<String> {
    let (first, last) = (measure.points.first()?, measure.points.last()?);
    Some(format!(
        "creeps, {} over {} runs: {} → {}",
        ratio(by),
        measure.points.len(),
        figure(first.value, measure.unit),
        figure(last.value, measure.unit),
    ))
}

/// A change in words: `WORSE ×1.40 since mon (2026-11-16 03:00 UTC): 10.0 ms → 14.0 ms`. Names pass through `shown`.
fn change_text(
    measure: &TrendMeasure,
    change: &ChangePoint,
    shown: impl Fn(&str) -> String,
) -> String {
    let by = change
        .ratio
        .map_or_else(String::new, |by| format!(" {}", ratio(by)));
    let since = measure
        .points
        .get(change.index)
        .map_or_else(|| UNKNOWN.to_owned(), |point| when(point, &shown));
    format!(
        "{}{by} since {since}: {} → {}",
        words::verdict(change.verdict),
        figure(change.before, measure.unit),
        figure(change.after, measure.unit),
    )
}

/// A run with its date.
fn when(point: &TrendPoint, shown: &impl Fn(&str) -> String) -> String {
    let name = shown(&point.run);
    match minute(point.at_unix_ns) {
        Some(date) => format!("{name} ({date} UTC)"),
        None => name,
    }
}
