//! Figures by metric and labels.

use std::collections::BTreeMap;

use super::metric::Metric;

/// Characters of a label's value.
const MAX_LABEL: usize = 250;

/// A name, and a value.
pub type Label = (&'static str, String);

/// Values by metric and labels.
pub type Figures = BTreeMap<(Metric, Vec<Label>), Value>;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One number.
    Number(f64),
    /// Durations.
    Durations {
        /// How many.
        count: u64,
        /// Their sum in nanoseconds.
        sum_ns: u64,
        /// Quantiles (0 to 1) in nanoseconds, of the newest.
        quantiles_ns: Vec<(f64, u64)>,
    },
}

pub(super) fn put(figures: &mut Figures, metric: Metric, labels: Vec<Label>, value: f64) {
    figures.insert((metric, labels), Value::Number(value));
}

pub(super) fn add(figures: &mut Figures, metric: Metric, labels: Vec<Label>, value: f64) {
    let sum = figures
        .entry((metric, labels))
        .or_insert(Value::Number(0.0));
    if let Value::Number(sum) = sum {
        *sum += value;
    }
}

/// The system counts for the process: what several recordings of it read is not added.
pub(super) fn grow(figures: &mut Figures, metric: Metric, labels: Vec<Label>, value: f64) {
    let known = figures
        .entry((metric, labels))
        .or_insert(Value::Number(value));
    if let Value::Number(known) = known {
        *known = known.max(value);
    }
}

/// Text of a user as a label: no control codes, and not long.
pub(super) fn short(text: &str) -> String {
    crate::escape::cut(text, MAX_LABEL)
}
