//! Of what the host launched, how much is in the trace?

use std::collections::BTreeMap;

use serde::Serialize;

use super::DeviceTimeline;
use super::synchronisation::is_copy;
use crate::import::chrome::{Meanings, Trace};
use crate::intervals::{Interval, has_moment};
use crate::stats::ratio;

/// Calls that launch kernels, graphs or copies, and whether the trace has their work. What it lacks is not known: it is no idleness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LaunchCoverage {
    /// By name, in order; those that copy only where the trace lacks some of their copies.
    pub calls: Vec<LaunchedCalls>,
}

/// Calls of one name. Those without a correlation, and those that a graph was recorded from, are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LaunchedCalls {
    /// `cudaLaunchKernel`, `hipGraphLaunch`.
    pub name: String,
    /// How many there are.
    pub count: u64,
    /// How many of them have no work in the trace.
    pub n_without_work: u64,
}

impl LaunchCoverage {
    /// Of the calls, the share whose work is in the trace, 0 to 1; `None` without calls.
    pub fn ratio(&self) -> Option<f64> {
        let (n, of) = sums(self.calls.iter());
        (of > 0).then(|| ratio((of - n).into(), of.into()))
    }

    /// `8 of 10 graph launches have no work in the trace`; `None` when nothing is missing.
    pub fn lack(&self) -> Option<String> {
        let kind = |name: &str| match (is_graph(name), is_copy(name)) {
            (true, _) => "graph launches",
            (_, true) => "copies",
            _ => "launches",
        };
        let said = ["graph launches", "launches", "copies"].into_iter().filter_map(|what| {
            let (n, of) = sums(self.calls.iter().filter(|one| kind(&one.name) == what));
            (n > 0).then(|| format!("{n} of {of} {what}"))
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| format!("{} have no work in the trace", said.join(" and ")))
    }
}

/// Without work, and all.
fn sums<'a>(calls: impl Iterator<Item = &'a LaunchedCalls>) -> (u64, u64) {
    calls.fold((0, 0), |(n, of), one| (n + one.n_without_work, of + one.count))
}

/// A call of this name launches a graph.
pub(super) fn is_graph(call: &str) -> bool {
    call.ends_with("GraphLaunch")
}

/// `cudaLaunchKernelExC`, `hipExtModuleLaunchKernel`, `cuLaunchCooperativeKernel`, `urEnqueueKernelLaunch`.
pub(super) fn is_kernel(call: &str) -> bool {
    let parts = ["LaunchKernel", "LaunchCooperativeKernel", "KernelLaunch"];
    parts.iter().any(|part| call.contains(part))
}

/// How much of what was launched all timelines of a trace have; and marks in them what is not known for that.
pub(super) fn launch_coverage(trace: &Trace, timelines: &mut [DeviceTimeline]) -> LaunchCoverage {
    let work = timelines.iter().flat_map(|timeline| &timeline.work);
    let mut launched: Vec<u32> = work.filter_map(|work| work.launch).collect();
    launched.sort_unstable();
    let mut launches = Meanings::new(&trace.names);
    let is_launch = |name: &str| is_graph(name) || is_kernel(name) || is_copy(name);
    let recordings = graph_recordings(trace);
    let mut by_name = BTreeMap::<u32, (u64, u64)>::new();
    let mut missing: Vec<(u32, u64)> = Vec::new();
    for call in trace.calls.iter().filter(|call| call.correlation.is_some()) {
        let name = trace.rows.name_of(call.row).unwrap_or_default();
        let at_ns = trace.rows.start_of(call.row);
        if launches.of(name, is_launch) != Some(true) {
            continue;
        }
        let is_missing = launched.binary_search(&call.row).is_err();
        if is_missing && has_moment(&recordings, at_ns) {
            continue;
        }
        let (count, n_without_work) = by_name.entry(name).or_default();
        *count += 1;
        if is_missing {
            *n_without_work += 1;
            missing.push((trace.document_of(call.row), at_ns));
        }
    }
    missing.sort_unstable();
    let end_ns = if missing.is_empty() { 0 } else { trace.rows.last_end_ns() };
    for timeline in timelines {
        let document = trace.document_of_process(timeline.process);
        let own = missing.iter().filter(|(of, _)| *of == document);
        let own: Vec<u64> = own.map(|(_, at_ns)| *at_ns).collect();
        timeline.unknown = unknown(trace, timeline, &own, end_ns);
    }
    let row = |(name, (count, n_without_work))| LaunchedCalls {
        name: trace.names.get(name).to_owned(),
        count,
        n_without_work,
    };
    let mut calls: Vec<LaunchedCalls> = by_name.into_iter().map(row).collect();
    calls.retain(|one| one.n_without_work > 0 || !is_copy(&one.name));
    calls.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    LaunchCoverage { calls }
}

/// When graphs were recorded, in order: what is launched meanwhile does not run.
pub(super) fn graph_recordings(trace: &Trace) -> Vec<Interval> {
    if !trace.names.iter().any(|name| name.contains("BeginCapture")) {
        return Vec::new();
    }
    let mut calls: Vec<u32> = trace.calls.iter().map(|call| call.row).collect();
    calls.sort_by_key(|row| trace.rows.start_of(*row));
    let (mut recordings, mut begun) = (Vec::new(), None);
    for row in calls {
        let name = trace.name_of(row);
        if name.contains("BeginCapture") {
            begun = Some(trace.rows.start_of(row));
        } else if name.contains("EndCapture") {
            recordings.extend(
                begun.take().map(|start_ns| Interval { start_ns, end_ns: trace.rows.end_ns(row) }),
            );
        }
    }
    recordings
}

/// Time in which a device may have worked though the trace has nothing: of a gap what comes after a launch without work, if none of the
/// work before was launched later; also before the first work and from the last to the end of the trace.
///
/// ```text
/// host     [a]     [x]     [b]  [y]       x, y: their work is not in the trace
/// device    |--a--|    ?????????|-b-|?????
/// ```
fn unknown(
    trace: &Trace,
    timeline: &DeviceTimeline,
    missing: &[u64],
    end_ns: u64,
) -> Vec<Interval> {
    let mut unknown = Vec::new();
    let (mut busy_until_ns, mut launched_until_ns) = (0, 0);
    for work in &timeline.work {
        let launched_ns = work.launch.map(|call| trace.rows.start_of(call));
        let next = missing.partition_point(|at_ns| *at_ns < launched_until_ns);
        let next = missing.get(next).copied();
        let until_ns = launched_ns.unwrap_or(work.start_ns).min(work.start_ns);
        if let Some(at_ns) = next.filter(|at_ns| *at_ns < until_ns)
            && busy_until_ns < work.start_ns
        {
            unknown.push(Interval { start_ns: busy_until_ns.max(at_ns), end_ns: work.start_ns });
        }
        busy_until_ns = busy_until_ns.max(work.end_ns);
        launched_until_ns = launched_until_ns.max(launched_ns.unwrap_or_default());
    }
    let next = missing.partition_point(|at_ns| *at_ns < launched_until_ns);
    if let Some(at_ns) = missing.get(next) {
        let start_ns = busy_until_ns.max(*at_ns);
        unknown.extend((start_ns < end_ns).then_some(Interval { start_ns, end_ns }));
    }
    unknown
}
