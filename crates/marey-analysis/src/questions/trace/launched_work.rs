//! What did a device do for a range of the host: for a step, an annotation, a module?

use super::device_timeline::{DeviceTimeline, DeviceWork};
use crate::import::chrome::{Class, Trace};
use crate::intervals::{Interval, union_length_ns};

/// Work that calls launched which began within a range of the host. Devices run behind: what they did while the range was
/// open belongs to ranges before it.
///
/// ```text
/// host     |--step 1--||--step 2--|
///            ↓a  ↓b      ↓c  ↓d
/// device        |-a-||--b--||-c-||--d--|       step 1: a, b     step 2: c, d
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchedWork {
    /// The range's name.
    pub name: String,
    /// The row of the trace.
    pub row: u32,
    /// When it began on the host: nanoseconds after the first event of the trace.
    pub start_ns: u64,
    /// How long it was open on the host.
    pub duration_ns: u64,
    /// Kernels, copies and fills that were launched in it.
    pub n_ops: u64,
    /// Time that they cover, each moment once.
    pub busy_ns: u64,
    /// When the first of them began on the device; `None` when there are none.
    pub device_start_ns: Option<u64>,
    /// From there to the end of the last.
    pub device_span_ns: u64,
}

/// A device's work by the time at which it was launched; what has no launch is not there.
pub struct ByLaunch<'a> {
    trace: &'a Trace,
    /// When it was launched, and what.
    work: Vec<(u64, DeviceWork)>,
}

impl<'a> ByLaunch<'a> {
    /// Sorts the work once for many ranges.
    pub fn new(trace: &'a Trace, timeline: &DeviceTimeline) -> Self {
        let launched = timeline.work.iter().filter_map(|work| {
            let launch = work.launch?;
            Some((trace.rows.start_of(launch), *work))
        });
        let mut work: Vec<_> = launched.collect();
        work.sort_by_key(|(launched_ns, _)| *launched_ns);
        Self { trace, work }
    }

    /// What was launched while this row was open.
    pub fn of(&self, row: u32) -> LaunchedWork {
        let start_ns = self.trace.rows.start_of(row);
        let end_ns = self.trace.rows.end_ns(row);
        let from = self.work.partition_point(|(at_ns, _)| *at_ns < start_ns);
        let to = self.work.partition_point(|(at_ns, _)| *at_ns < end_ns);
        let work = self.work.get(from..to).unwrap_or_default();
        let times: Vec<Interval> = work.iter().map(|(_, work)| work.interval()).collect();
        let device_start_ns = times.iter().map(|time| time.start_ns).min();
        let device_end_ns = times.iter().map(|time| time.end_ns).max();
        LaunchedWork {
            name: self.trace.name_of(row).to_owned(),
            row,
            start_ns,
            duration_ns: self.trace.rows.duration_of(row),
            n_ops: times.len() as u64,
            device_start_ns,
            device_span_ns: device_end_ns
                .unwrap_or_default()
                .saturating_sub(device_start_ns.unwrap_or_default()),
            busy_ns: union_length_ns(times),
        }
    }
}

/// The rows of the steps that the program told torch's profiler of (`ProfilerStep#3`), in order of their beginnings.
pub fn profiler_steps(trace: &Trace) -> Vec<u32> {
    let is_step = |class, name: &str| {
        matches!(class, Class::Annotation | Class::Operator) && name.starts_with("ProfilerStep")
    };
    rows_where(trace, is_step)
}

/// The rows of all other ranges that the program named (`record_function`), likewise.
pub fn annotations(trace: &Trace) -> Vec<u32> {
    rows_where(trace, |class, name| class == Class::Annotation && !name.starts_with("ProfilerStep"))
}

fn rows_where(trace: &Trace, is_wanted: impl Fn(Class, &str) -> bool) -> Vec<u32> {
    let mut known: Vec<[Option<bool>; 2]> = vec![[None; 2]; trace.names.len()];
    let mut found = Vec::new();
    let rows = trace.rows.category.iter().zip(&trace.rows.name);
    for (row, (category, name)) in (0_u32..).zip(rows) {
        let class = trace.categories.class(*category);
        let at = match class {
            Class::Annotation => 0,
            Class::Operator => 1,
            _ => continue,
        };
        let known = known.get_mut(*name as usize).map(|known| &mut known[at]);
        let is_found = known.is_some_and(|known| {
            *known.get_or_insert_with(|| is_wanted(class, trace.names.get(*name)))
        });
        if is_found {
            found.push(row);
        }
    }
    found.sort_by_key(|row| (trace.rows.start_of(*row), trace.rows.end_ns(*row)));
    found
}
