//! What matters first.

use serde::Serialize;

use super::comparison::Verdict;
use super::measure::{MeasureKind, Subject};
use crate::findings::FigureUnit;

/// One thing that matters, with the figures that say so: a line of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Headline {
    /// Better or worse.
    pub verdict: Verdict,
    /// What it is about, in a few words: "slower", "reads from disk starve", "more memory".
    pub what: &'static str,
    /// Where.
    pub subject: Subject,
    /// The figure that decided first, then those that explain.
    pub figures: Vec<HeadlineFigure>,
    /// Index into [`super::Comparison::measures`] of the one that decided.
    pub measure: usize,
}

/// A figure of a headline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadlineFigure {
    /// What is measured.
    pub kind: MeasureKind,
    /// Of what.
    pub subject: Subject,
    /// In which unit.
    pub unit: FigureUnit,
    /// `None` when the baseline does not have it.
    pub baseline: Option<f64>,
    /// `None` when the candidate does not have it.
    pub candidate: Option<f64>,
}
