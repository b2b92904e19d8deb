//! `memory_log.json`: the labelled memory readings as a bare list.

use crate::json::{bytes_of, snapshots};
use crate::model::Report;

/// The labelled readings in order of time, each as in `memory_snapshots` of the profiling report.
pub fn memory_log(report: &Report) -> Vec<u8> {
    bytes_of(&snapshots(report))
}
