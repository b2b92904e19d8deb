//! Which calls waited for a device, what did that cost, and where do they stand?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::owners::{HostKind, MODULE};
use super::{DeviceAnswers, DeviceTimeline, TraceContext, WorkKind};
use crate::import::chrome::{Class, Meanings, Trace};
use crate::intervals::{Interval, length_within, union};
use crate::stats::sum;

/// Calls in which the host waits for a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Synchronisation {
    /// All calls of the runtime that wait.
    pub count: u64,
    /// Their durations together; those of several threads add up.
    pub total_ns: u64,
    /// Time in which a device stood still because of these calls, or may have, as in [`super::IdleGaps::waiting_ns`]: of the device with
    /// most of it; `None` when the trace has no work of devices.
    pub gaps_ns: Option<u64>,
    /// By name, the one that took most first. Operators that waited are rows of their own: their calls are counted there
    /// again, other than above.
    pub calls: Vec<SyncCall>,
    /// Calls of the runtime by name and place, likewise.
    pub places: Vec<SyncPlace>,
}

/// All calls of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SyncCall {
    /// A call of the runtime, or an operator that needs a value of the device (`aten::item`).
    pub kind: HostKind,
    /// Its name.
    pub name: String,
    /// How often it waited.
    pub count: u64,
    /// All durations together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// The part of `total_ns` in which no device did anything; the rest is waiting for work. `None` when the trace has no
    /// work of devices.
    pub idle_ns: Option<u64>,
}

/// All calls of one name in one place. Each part of the place is `None` when the call was not in such a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SyncPlace {
    /// The name of the call.
    pub name: String,
    /// The innermost operator around it.
    pub operator: Option<String>,
    /// The innermost range that the program named.
    pub range: Option<String>,
    /// The innermost module.
    pub module: Option<String>,
    /// The innermost Python function that is not part of torch (`file.py(12): f`), else the innermost with a file.
    pub function: Option<String>,
    /// How often it waited there.
    pub count: u64,
    /// All durations together.
    pub total_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// As in [`SyncCall`].
    pub idle_ns: Option<u64>,
}

/// Operators that read a value of a device, or a size that only the device knows.
const READING: [&str; 3] = ["aten::item", "aten::_local_scalar_dense", "aten::nonzero"];

/// What calls of one name, or of one name in one place, add up to; and how long no device did anything meanwhile.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: u64,
    total_ns: u64,
    longest_ns: u64,
    idle_ns: u64,
}

impl Sums {
    fn add(&mut self, call: Interval, busy: &[Interval]) {
        let duration_ns = call.length_ns();
        let idle_ns = duration_ns.saturating_sub(length_within(call, busy));
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(duration_ns);
        self.longest_ns = self.longest_ns.max(duration_ns);
        self.idle_ns = self.idle_ns.saturating_add(idle_ns);
    }
}

/// The names of a call, and of the innermost operator, range, module and function around it.
type Place<'a> = (&'a str, [Option<&'a str>; 4]);

/// The waiting calls of the part that is asked about, and what its devices stood still because of them.
///
/// ```text
/// host      |------ cudaStreamSynchronize -----|
/// device  ----a----|         |--b--|               idle in it: between a and b, and after b
/// ```
///
/// O(n log n) for n pieces of work, if any call waits.
pub fn synchronisation(context: &TraceContext<'_>, devices: &[DeviceAnswers]) -> Synchronisation {
    let trace = context.trace;
    let mut rows = context.waits.rows.clone();
    rows.retain(|row| context.has_row(*row));
    if rows.is_empty() {
        return Synchronisation::default();
    }
    let busy = busy(trace);
    let busy = |row| busy.get(&trace.document_of(row)).map_or(&[][..], Vec::as_slice);
    let mut all = Sums::default();
    let mut calls: BTreeMap<(HostKind, &str), Sums> = BTreeMap::new();
    let mut places: BTreeMap<Place<'_>, Sums> = BTreeMap::new();
    let mut reading: BTreeSet<u32> = BTreeSet::new();
    for row in rows {
        let place = place_of(context, row);
        let of_name = calls.entry((HostKind::Call, place.0)).or_default();
        for sums in [&mut all, of_name, places.entry(place).or_default()] {
            sums.add(trace.rows.time_of(row), busy(row));
        }
        let around = context.owners.around(row);
        reading.extend(around.filter(|row| READING.contains(&trace.name_of(*row))));
    }
    for row in reading {
        let sums = calls.entry((HostKind::Operator, trace.name_of(row))).or_default();
        sums.add(trace.rows.time_of(row), busy(row));
    }
    let idle_ns = |sums: Sums| (!trace.work.is_empty()).then_some(sums.idle_ns);
    let call = |((kind, name), sums): ((HostKind, &str), Sums)| SyncCall {
        kind,
        name: name.to_owned(),
        count: sums.count,
        total_ns: sums.total_ns,
        longest_ns: sums.longest_ns,
        idle_ns: idle_ns(sums),
    };
    let place = |((name, around), sums): (Place<'_>, Sums)| {
        let [operator, range, module, function] = around.map(|name| name.map(str::to_owned));
        SyncPlace {
            name: name.to_owned(),
            operator,
            range,
            module,
            function,
            count: sums.count,
            total_ns: sums.total_ns,
            longest_ns: sums.longest_ns,
            idle_ns: idle_ns(sums),
        }
    };
    // Stable sorts: of equals the first by name.
    let mut calls: Vec<SyncCall> = calls.into_iter().map(call).collect();
    calls.sort_by_key(|row| Reverse(row.total_ns));
    let mut places: Vec<SyncPlace> = places.into_iter().map(place).collect();
    places.sort_by_key(|row| Reverse(row.total_ns));
    let gaps_ns = devices.iter().map(|one| one.idle_gaps.waiting_ns).max();
    Synchronisation { count: all.count, total_ns: all.total_ns, gaps_ns, calls, places }
}

/// When any device of each document did anything.
fn busy(trace: &Trace) -> BTreeMap<u32, Vec<Interval>> {
    let mut busy: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
    for work in &trace.work {
        let of_document = busy.entry(trace.document_of(work.row)).or_default();
        of_document.push(trace.rows.time_of(work.row));
    }
    for intervals in busy.values_mut() {
        *intervals = union(std::mem::take(intervals));
    }
    busy
}

fn place_of<'a>(context: &TraceContext<'a>, row: u32) -> Place<'a> {
    let trace = context.trace;
    let innermost = |kind| context.owners.innermost(trace, row, kind).map(|row| trace.name_of(row));
    let [operator, range, module] =
        [HostKind::Operator, HostKind::Range, HostKind::Module].map(innermost);
    let module = module.map(|name| name.strip_prefix(MODULE).unwrap_or(name));
    let function = function_around(context, row).map(|row| trace.name_of(row));
    (trace.name_of(row), [operator, range, module, function])
}

/// The innermost Python function with a file around a row, of the user's if there is one.
fn function_around(context: &TraceContext<'_>, row: u32) -> Option<u32> {
    let trace = context.trace;
    let has_file = |row: &u32| {
        let name = trace.name_of(*row);
        trace.class_of(*row) == Class::PythonFunction
            && !name.starts_with('<')
            && !name.starts_with(MODULE)
    };
    let functions = || context.host.around(row).filter(has_file);
    let is_torch = |name: &str| name.starts_with("torch/") || name.contains("/torch/");
    let of_user = functions().find(|row| !is_torch(trace.name_of(*row)));
    of_user.or_else(|| functions().next())
}

/// Calls that wait for a device.
#[derive(Debug)]
pub(crate) struct WaitTimes {
    /// Their rows, in order.
    pub(crate) rows: Vec<u32>,
    /// Their times, of each thread by itself, with its document.
    threads: Vec<(u32, Vec<Interval>)>,
}

impl WaitTimes {
    /// Of all the trace. The timelines say when copies ended; a copy that is in none waits for nothing.
    pub(super) fn new(trace: &Trace, timelines: &[DeviceTimeline]) -> Self {
        let rows = waiting_rows(trace, timelines);
        let mut by_track: BTreeMap<u32, (u32, Vec<Interval>)> = BTreeMap::new();
        for row in &rows {
            let Some(track) = trace.rows.track.get(*row as usize) else {
                continue;
            };
            let thread = by_track.entry(*track).or_insert((trace.document_of(*row), Vec::new()));
            thread.1.push(trace.rows.time_of(*row));
        }
        let threads = by_track.into_values();
        Self { threads: threads.map(|(document, times)| (document, union(times))).collect(), rows }
    }

    /// The row is such a call.
    pub(super) fn has(&self, row: u32) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Within disjoint times of a document, in nanoseconds; the times of several threads add up.
    pub(super) fn within(&self, document: u32, ranges: &[Interval]) -> u64 {
        let times = self.of(document);
        sum(times.flat_map(|times| ranges.iter().map(|range| length_within(*range, times))))
    }

    /// One of a document begins or ends in this time, or goes on in it.
    pub(super) fn touch(&self, document: u32, time: Interval) -> bool {
        self.of(document).any(|times| {
            let next = times.partition_point(|one| one.end_ns < time.start_ns);
            let next = times.get(next);
            next.is_some_and(|one| one.start_ns <= time.end_ns)
        })
    }

    fn of(&self, document: u32) -> impl Iterator<Item = &[Interval]> {
        let threads = self.threads.iter();
        let threads = threads.filter(move |thread| thread.0 == document);
        threads.map(|(_, times)| times.as_slice())
    }
}

/// What a name says of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Always,
    /// When the copy ends before the call does: copies from and to pageable memory are like that.
    WithItsCopy,
    Never,
}

/// A call of this name copies.
pub(super) fn is_copy(name: &str) -> bool {
    ["cudaMemcpy", "hipMemcpy", "cuMemcpy"].iter().any(|beginning| name.starts_with(beginning))
}

fn waits(name: &str) -> Waits {
    // CUDA and HIP: `cudaStreamSynchronize`; MTIA: `synchronizeStream`.
    if name.contains("Synchronize") || name.starts_with("synchronize") {
        Waits::Always
    } else if !is_copy(name) {
        Waits::Never
    } else if name.contains("Async") || name.contains("DtoD") {
        Waits::WithItsCopy
    } else {
        Waits::Always
    }
}

fn waiting_rows(trace: &Trace, timelines: &[DeviceTimeline]) -> Vec<u32> {
    let mut known = Meanings::new(&trace.names);
    let mut copies: Option<BTreeMap<u32, u64>> = None;
    let mut rows = Vec::new();
    for call in &trace.calls {
        let name = trace.rows.name_of(call.row).unwrap_or_default();
        let is_waiting = match known.of(name, waits) {
            Some(Waits::Always) => true,
            Some(Waits::Never) | None => false,
            Some(Waits::WithItsCopy) => {
                let copies = copies.get_or_insert_with(|| copies_to_host(trace, timelines));
                let end_ns = trace.rows.end_ns(call.row);
                copies.get(&call.row).is_some_and(|copied| *copied <= end_ns)
            }
        };
        if is_waiting {
            rows.push(call.row);
        }
    }
    rows.sort_unstable();
    rows
}

/// When copies from devices to the host ended, by the rows of the calls that launched them.
fn copies_to_host(trace: &Trace, timelines: &[DeviceTimeline]) -> BTreeMap<u32, u64> {
    let work = timelines.iter().flat_map(|t| &t.work);
    let copies = work.filter(|work| {
        work.kind == WorkKind::Memcpy && trace.names.get(work.name).contains("DtoH")
    });
    copies.filter_map(|work| Some((work.launch?, work.end_ns))).collect()
}
