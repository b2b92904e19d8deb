//! All that is shown of many runs over time, once.

use marey_analysis::compare::Trend;

use super::model::ComparedSide;

/// Figures of many runs over time, and where they come from.
#[derive(Clone, Debug, PartialEq)]
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
}
