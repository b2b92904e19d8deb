//! A part of a trace that questions are asked about.

use serde::Serialize;

use super::DeviceWork;
use crate::import::chrome::Trace;
use crate::intervals::Interval;

/// Ranges of the host: a step, a phase. Work of devices belongs to it when the call that launched it began in one of them.
///
/// ```text
/// host     |--step 1--||--step 2--|
///            ↓a  ↓b      ↓c  ↓d
/// device        |-a-||--b--||-c-||--d--|       step 1: a, b     step 2: c, d
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Scope {
    /// What it is called.
    pub name: String,
    /// Which document of the file it is in.
    pub document: u32,
    /// When it was open, disjoint and in order.
    pub ranges: Vec<Interval>,
}

impl Scope {
    /// A moment of the host lies in it.
    pub fn has(&self, at_ns: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.end_ns <= at_ns);
        let range = self.ranges.get(after);
        range.is_some_and(|range| range.start_ns <= at_ns)
    }

    /// A row of the host began in it.
    pub fn has_row(&self, trace: &Trace, row: u32) -> bool {
        trace.document_of(row) == self.document && self.has(trace.rows.start_of(row))
    }

    /// The work was launched in it; false when the trace has no launch.
    pub(super) fn has_work(&self, trace: &Trace, work: &DeviceWork) -> bool {
        work.launch.is_some_and(|call| self.has_row(trace, call))
    }
}
