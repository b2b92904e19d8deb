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

    /// Measures that changed, those that changed last first; measures that changed at the same run stay in their order.
    pub(crate) fn changed(&self) -> Vec<&TrendMeasure> {
        let measures = self.trend.measures.iter();
        let mut changed: Vec<&TrendMeasure> = measures.filter(|m| !m.changes.is_empty()).collect();
        changed.sort_by_key(|measure| std::cmp::Reverse(last_change(measure)));
        changed
    }
}

fn last_change(measure: &TrendMeasure) -> Option<u64> {
    let change = measure.changes.last()?;
    Some(measure.points.get(change.index)?.at_unix_ns)
}

/// A change in words: `WORSE ×1.40 since mon (2026-11-16 03:00 UTC): 10.0 ms → 14.0 ms`. Names pass through `shown`.
pub(crate) fn change_text(
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
