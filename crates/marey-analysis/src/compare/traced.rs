//! Traces as sides of a comparison: their sections as those of runs, and what their devices did.
//!
//! ```text
//! trace ──┬─► outline: ranges, modules, outermost operators ──► the same measures as of a run
//!         └─► devices: busy, idle, kernels by class and name ──► measures of their own
//! ```
//!
//! No step is needed for that: two traces of one program have the same kernels, whatever their steps are found by.

use std::collections::{BTreeMap, BTreeSet};

use marey::Run;
use serde::Serialize;

use super::bootstrap::Statistic;
use super::observations::{Observations, Value};
use super::traced_work::{Done, done};
use super::{MeasureKind, Subject};
use crate::account::{PathTime, PathTimes};
use crate::import::chrome::{Trace, outline_of, outline_without_modules};
use crate::questions::trace::{
    DeviceTimeline, LaunchCoverage, TraceContext, kernel_class, trace_account, transfers,
    utilization,
};
use crate::stats::{float, sum};

/// Names of kernels of a trace that are compared: those that took most. A name that is compared for one trace is for all.
const MOST_KERNELS: usize = 100;

/// The traces of one side: one, or several repeats.
#[derive(Clone, Debug, Default)]
pub struct TracedSide {
    runs: Vec<Run>,
    /// The same without modules, of those that have some.
    without_modules: Vec<Option<Run>>,
    figures: Vec<Observations>,
    /// Wall time by phases, by what its only device did, and as one; `None` where it has none of these.
    accounts: Vec<[Option<PathTimes>; 3]>,
    /// How much of what was launched they have.
    coverage: Vec<LaunchCoverage>,
    /// What the operators did that launched work of devices.
    pub(super) work: Vec<Option<Done>>,
}

impl TracedSide {
    /// Adds a trace; it is not needed afterwards. O(n log n).
    pub fn push(&mut self, trace: &Trace) {
        let outline = outline_of(trace);
        let plain = has_modules(&outline).then(|| outline_without_modules(trace));
        self.runs.push(outline);
        self.without_modules.push(plain);
        let context = TraceContext::new(trace, None);
        self.figures.push(figures(&context));
        self.accounts.push(accounts(&context));
        self.work.push(done(&context));
        self.coverage.push(context.coverage);
    }

    /// What held each trace of both sides up, of each the shortest first: by phases where all have some, else by what their only device did;
    /// `None` of the ranks of a job, which wait for each other.
    pub(super) fn accounts(sides: [&Self; 2]) -> Option<Vec<PathTimes>> {
        let has_ranks = sides.iter().any(|side| side.ranks().is_some());
        let of = |way: usize| {
            let mut all = Vec::new();
            for side in sides {
                let each = side.accounts.iter().map(|one| one[way].clone());
                let mut each: Vec<PathTimes> = each.collect::<Option<_>>()?;
                each.sort_unstable();
                all.append(&mut each);
            }
            Some(all)
        };
        (0..3).filter(|_| !has_ranks).find_map(of)
    }

    /// Of the trace that lacks most of what was launched.
    pub(super) fn least_covered(&self) -> Option<&LaunchCoverage> {
        let known = self.coverage.iter().filter(|one| one.ratio().is_some());
        known.min_by(|a, b| a.ratio().unwrap_or(1.0).total_cmp(&b.ratio().unwrap_or(1.0)))
    }

    /// The numbers of the processes of one job that the traces are of; `None` unless there are two or more. Such traces are no
    /// repeats: their processes wait for each other.
    pub fn ranks(&self) -> Option<Vec<u32>> {
        Some(self.known_ranks()).filter(|ranks| ranks.len() >= 2)
    }

    /// The numbers of the processes that traces say which they are of.
    pub(super) fn known_ranks(&self) -> Vec<u32> {
        let ranks: BTreeSet<u32> = self.runs.iter().filter_map(|run| run.info.rank).collect();
        ranks.into_iter().collect()
    }

    pub(super) fn has_modules(&self) -> bool {
        self.without_modules.iter().any(Option::is_some)
    }

    /// The traces as runs, with modules or without.
    pub(super) fn outlines(&self, with_modules: bool) -> Vec<Run> {
        let each = self.runs.iter().zip(&self.without_modules);
        let outline = |(run, plain): (&Run, &Option<Run>)| match plain {
            Some(plain) if !with_modules => plain.clone(),
            _ => run.clone(),
        };
        each.map(outline).collect()
    }

    /// The traces as runs, in the order in which they were added.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// What devices did, of the kernels that are meant only.
    pub(super) fn figures_of(&self, kernels: &BTreeSet<String>) -> Vec<Observations> {
        let is_meant = |subject: &Subject| match subject {
            Subject::Kernel(name) => kernels.contains(name),
            _ => true,
        };
        let each = self.figures.iter();
        each.map(|one| one.only(is_meant)).collect()
    }

    /// The names of the kernels that took most, of each trace.
    pub(super) fn largest_kernels(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for one in &self.figures {
            let totals = one.values().iter();
            let mut totals: Vec<(f64, &String)> = totals
                .filter_map(|((kind, of), value)| match of {
                    Subject::Kernel(name) if *kind == MeasureKind::KernelTotal => {
                        Some((value.figure, name))
                    }
                    _ => None,
                })
                .collect();
            totals.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
            let largest = totals.into_iter().take(MOST_KERNELS);
            names.extend(largest.map(|(_, name)| name.clone()));
        }
        names
    }
}

fn has_modules(run: &Run) -> bool {
    let mut nodes = run.nodes.iter();
    nodes.any(|node| node.name.starts_with("nn.Module: "))
}

/// Wall time by phases and what is between them, by what the only device did, and as one.
fn accounts(context: &TraceContext<'_>) -> [Option<PathTimes>; 3] {
    let trace = context.trace;
    let Some(account) = trace_account(context) else {
        return [const { None }; 3];
    };
    let wall_ns = account.wall.length_ns();
    let times = |rows: Vec<(String, u64)>| {
        let time = |(name, self_ns)| PathTime { path: vec![name], is_iteration: false, self_ns };
        (wall_ns, rows.into_iter().map(time).collect())
    };
    let phases = account.phases().iter();
    let phases: Vec<(String, u64)> = phases.map(|row| (row.name.clone(), row.held_ns)).collect();
    let device = match context.timelines.as_slice() {
        [only] => Some(utilization(trace, only).parts_of(wall_ns)),
        _ => None,
    };
    let owned = |(name, ns): (&str, u64)| (name.to_owned(), ns);
    let device = device.map(|parts| parts.into_iter().map(owned).collect());
    [
        Some(phases).filter(|rows| !rows.is_empty()).map(times),
        device.map(times),
        Some(times(Vec::new())),
    ]
}

/// What the devices of a trace did.
fn figures(context: &TraceContext<'_>) -> Observations {
    let spans = context.timelines.iter().map(|device| device.span().length_ns());
    let span_ns = float(spans.sum::<u64>()).max(1.0);
    let mut found = Found { context, observations: Observations::default(), span_ns };
    for device in &context.timelines {
        found.add_use(device);
    }
    found.add_kernels();
    found.add_transfers();
    found.add_parts();
    found.add_waits();
    found.observations
}

/// What is found of a trace.
pub(super) struct Found<'a> {
    pub(super) context: &'a TraceContext<'a>,
    pub(super) observations: Observations,
    /// Spans of all devices together.
    span_ns: f64,
}

impl Found<'_> {
    /// Adds a figure, and the calls that it is of, if it is of some.
    pub(super) fn add(&mut self, kind: MeasureKind, of: Subject, figure: f64, calls: Vec<f64>) {
        let all: f64 = if calls.is_empty() { figure } else { calls.iter().sum() };
        let value = Value { figure, calls, share: (all / self.span_ns).min(1.0) };
        self.observations.add_value(kind, of, value);
    }

    /// Adds the median of calls, if there are any.
    pub(super) fn add_median(&mut self, kind: MeasureKind, of: Subject, calls: Vec<f64>) {
        if let Some(figure) = Statistic::Median.of(&mut calls.clone()) {
            self.add(kind, of, figure, calls);
        }
    }

    /// A device by its name. The only one is the same on both sides, whatever its number.
    pub(super) fn device(&self, name: Option<&String>) -> Subject {
        let is_one_of_several = self.context.timelines.len() > 1;
        name.filter(|_| is_one_of_several).cloned().map_or(Subject::Run, Subject::Gpu)
    }

    fn add_use(&mut self, device: &DeviceTimeline) {
        let used = utilization(self.context.trace, device);
        let parts = [
            (MeasureKind::DeviceBusy, used.busy_ns),
            (MeasureKind::DeviceIdle, used.idle_ns),
            (MeasureKind::DeviceCompute, used.compute_ns),
            (MeasureKind::ExposedCommunication, used.exposed_communication_ns),
            (MeasureKind::ExposedCopies, used.exposed_memory_ns),
        ];
        for (kind, ns) in parts {
            self.add(kind, self.device(Some(&used.device)), float(ns), Vec::new());
        }
    }

    /// Durations by name and by class, of all devices together.
    fn add_kernels(&mut self) {
        let mut by_name: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let work = self.context.timelines.iter().flat_map(|device| &device.work);
        for work in work.filter(|work| work.kind.is_kernel()) {
            let name = without_ordinal(self.context.trace.names.get(work.name));
            by_name.entry(name).or_default().push(float(work.length_ns()));
        }
        let mut classes: BTreeMap<String, f64> = BTreeMap::new();
        for (name, durations) in by_name {
            let total_ns: f64 = durations.iter().sum();
            *classes.entry(word(&kernel_class(name))).or_default() += total_ns;
            let of = || Subject::Kernel(name.to_owned());
            let count = float(durations.len() as u64);
            self.observations.add(MeasureKind::KernelCalls, of(), Some(count));
            if durations.len() >= 2 {
                self.add_median(MeasureKind::KernelPerCall, of(), durations.clone());
            }
            self.add(MeasureKind::KernelTotal, of(), total_ns, durations);
        }
        for (class, total_ns) in classes {
            let of = Subject::KernelClass(class);
            self.add(MeasureKind::ClassTotal, of, total_ns, Vec::new());
        }
    }

    fn add_transfers(&mut self) {
        let context = self.context;
        let mut sums: BTreeMap<String, (f64, f64, u64)> = BTreeMap::new();
        let rows = context.timelines.iter().flat_map(|device| transfers(context.trace, device));
        for row in rows {
            let sum = sums.entry(row.direction).or_default();
            sum.0 += float(row.total_ns);
            sum.1 += float(row.bytes);
            sum.2 += row.n_without_bytes;
        }
        for (direction, (total_ns, bytes, n_without_bytes)) in sums {
            let of = || Subject::Transfer(direction.clone());
            self.add(MeasureKind::TransferTime, of(), total_ns, Vec::new());
            let bytes = (n_without_bytes == 0).then_some(bytes);
            self.observations.add(MeasureKind::TransferBytes, of(), bytes);
        }
    }

    /// Time of the host in calls that wait for a device.
    fn add_waits(&mut self) {
        let trace = self.context.trace;
        if trace.calls.is_empty() {
            return;
        }
        let waits = self.context.waits.rows.iter();
        let total_ns = sum(waits.map(|row| trace.rows.duration_of(*row)));
        self.add(MeasureKind::WaitsForDevices, Subject::Run, float(total_ns), Vec::new());
    }
}

/// A value of an enumeration in words.
pub(super) fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    let word = value.as_ref().and_then(|value| value.as_str());
    word.unwrap_or_default().replace('_', " ")
}

/// The name of a kernel as another compilation gives it: Triton numbers the kernels of a graph in the order in which they come.
fn without_ordinal(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match bare.strip_suffix('_') {
        Some(bare) if bare.starts_with("triton_") => bare,
        _ => name,
    }
}

#[cfg(test)]
mod tests;
