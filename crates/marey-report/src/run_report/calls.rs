//! Figures of calls, as cells.

use marey_analysis::{CallStats, Percentiles};

use crate::document::Cell;

/// A percentile, or about that.
pub(super) fn percentile(calls: &CallStats, of: fn(Percentiles) -> u64) -> Cell {
    Cell::known(calls.percentiles, |p| Cell::Duration(of(p)).exactly(p.is_exact))
}

/// The middle call, or about that.
pub(super) fn median(calls: &CallStats) -> Cell {
    let is_exact = calls.percentiles.is_none_or(|p| p.is_exact);
    Cell::known(calls.median_ns, |ns| Cell::Mean(ns).exactly(is_exact))
}
