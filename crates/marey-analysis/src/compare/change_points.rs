//! When did a figure of many runs change for good?

use marey::Run;
use serde::Serialize;

use super::measure::{MeasureKind, Subject};
use crate::findings::{Confidence, FigureUnit};

/// Figures of many runs of one program, with the moments from which on they were others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trend {
    /// Each figure that at least two runs have, in the order of [`MeasureKind`], then by subject.
    pub measures: Vec<TrendMeasure>,
}

/// One figure over many runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendMeasure {
    /// What is measured.
    pub kind: MeasureKind,
    /// Of what.
    pub subject: Subject,
    /// What the values count.
    pub unit: FigureUnit,
    /// The runs that have it, oldest first.
    pub points: Vec<TrendPoint>,
    /// Where it changed, in order.
    pub changes: Vec<ChangePoint>,
}

/// A run's figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrendPoint {
    /// The run, as the caller calls it.
    pub run: String,
    /// When it began, nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// The figure, always finite.
    pub value: f64,
}

/// A change that stayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChangePoint {
    /// The first point after it: an index into [`TrendMeasure::points`].
    pub index: usize,
    /// Median of the points between the change before and this one.
    pub before: f64,
    /// Median of the points from here to the next change.
    pub after: f64,
    /// `after` over `before`; `None` when `before` is 0 or one of them is below 0.
    pub ratio: Option<f64>,
    /// For the better, for the worse, or neither.
    pub verdict: super::Verdict,
    /// How sure it is.
    pub confidence: Confidence,
}

/// The figures of runs over time. Each run has a name of the caller's choice; their order does not matter.
pub fn trend(runs: &[(String, &Run)]) -> Trend {
    let _ = runs;
    Trend::default()
}
