//! The times of a snapshot, in those of the run of the same process.
//!
//! Events of allocators carry the wall clock, to a microsecond; a run says when it started by the same clock. Sections are found by
//! that: to about the accuracy of the wall clock, and of the main thread, because an event does not say which thread it was.

use marey::Run;
use serde::Serialize;

use super::open_sections::OpenSections;
use crate::import::snapshot::Snapshot;

/// What moments are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeOrigin {
    /// The start of the run.
    Run,
    /// The first event of the device.
    FirstEvent,
}

/// Whether no device's history overlaps a run; `None` when either has no times.
///
/// ```text
/// run               |----------------|
/// cuda:0    |----|                              outside
/// cuda:1          |-----|                       overlaps: so does the snapshot
/// ```
pub(super) fn is_outside(snapshot: &Snapshot, run: &Run) -> Option<bool> {
    let start_ns = Some(run.info.start_unix_ns).filter(|start| *start > 0)?;
    let end_ns = start_ns.saturating_add(run.wall_ns);
    let histories = snapshot.traces.iter().filter_map(|trace| {
        let times = || trace.events.iter().filter_map(|event| event.time_us);
        Some((times().min()?, times().max()?))
    });
    // An event is known to a microsecond.
    let overlaps = |(first_us, last_us): (u64, u64)| {
        let first_ns = first_us.saturating_mul(1000);
        let past_ns = last_us.saturating_add(1).saturating_mul(1000);
        first_ns <= end_ns && start_ns <= past_ns
    };
    histories.map(overlaps).reduce(|a, b| a || b).map(|any| !any)
}

/// Where on the time axis events are.
pub(super) struct Times<'a> {
    run: Option<(&'a Run, OpenSections)>,
    origin_us: Option<u64>,
    origin_ns: u64,
}

impl<'a> Times<'a> {
    /// Moments since the start of the run, if there is one, else since this time.
    pub(super) fn new(run: Option<&'a Run>, first_us: Option<u64>) -> Self {
        let run = run.filter(|run| run.info.start_unix_ns > 0);
        let first_us = first_us.filter(|_| run.is_none());
        Self {
            origin_us: first_us,
            origin_ns: run.map_or(0, |run| run.info.start_unix_ns),
            run: run.map(|run| (run, OpenSections::new(run))),
        }
    }

    pub(super) fn origin(&self) -> TimeOrigin {
        if self.run.is_some() { TimeOrigin::Run } else { TimeOrigin::FirstEvent }
    }

    pub(super) fn run(&self) -> Option<&'a Run> {
        self.run.as_ref().map(|(run, _)| *run)
    }

    pub(super) fn knows_sections(&self) -> bool {
        self.run.is_some()
    }

    /// A wall-clock time as a moment; `None` before the origin.
    pub(super) fn at_ns(&self, time_us: Option<u64>) -> Option<u64> {
        if let Some(origin) = self.origin_us {
            return Some(time_us?.checked_sub(origin)?.saturating_mul(1000));
        }
        self.run.as_ref()?;
        time_us?.saturating_mul(1000).checked_sub(self.origin_ns)
    }

    /// The section that was open in the main thread.
    pub(super) fn node(&self, time_us: Option<u64>) -> Option<u32> {
        let (_, sections) = self.run.as_ref()?;
        sections.at(self.at_ns(time_us)?)
    }

    /// Names from the top level down to a node.
    pub(super) fn path(&self, node: Option<u32>) -> Vec<String> {
        let Some((run, _)) = &self.run else {
            return Vec::new();
        };
        let node_of = |node: u32| run.nodes.get(node as usize);
        let upwards =
            std::iter::successors(node.and_then(node_of), |found| found.parent.and_then(node_of));
        let mut path: Vec<String> =
            upwards.filter(|node| node.parent.is_some()).map(|node| node.name.clone()).collect();
        path.reverse();
        path
    }
}
