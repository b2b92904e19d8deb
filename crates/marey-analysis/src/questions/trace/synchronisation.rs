//! Which calls waited for a device, what did that cost, and where do they stand?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::owners::{HostKind, MODULE};
use super::{DeviceAnswers, Owners, TraceContext};
use crate::import::chrome::{Class, Trace};
use crate::intervals::{Interval, length_within, union};

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

impl SyncPlace {
    /// Where it was, outermost name last: the order of rows with the same time.
    fn names(&self) -> (&str, [Option<&str>; 4]) {
        let around = [&self.operator, &self.range, &self.module, &self.function];
        (&self.name, around.map(Option::as_deref))
    }
}

/// Operators that read a value of a device, or a size that only the device knows.
const READING: [&str; 3] = ["aten::item", "aten::_local_scalar_dense", "aten::nonzero"];

#[derive(Clone, Copy, Default)]
struct Sums {
    count: u64,
    total_ns: u64,
    longest_ns: u64,
    idle_ns: u64,
}

impl Sums {
    fn add(&mut self, duration_ns: u64, idle_ns: u64) {
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(duration_ns);
        self.longest_ns = self.longest_ns.max(duration_ns);
        self.idle_ns = self.idle_ns.saturating_add(idle_ns);
    }
}

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
    let mut all = Sums::default();
    let mut calls: BTreeMap<(HostKind, u32), Sums> = BTreeMap::new();
    let mut places: BTreeMap<Place, Sums> = BTreeMap::new();
    let mut reading: BTreeSet<u32> = BTreeSet::new();
    for row in rows {
        let (duration_ns, idle_ns) = (trace.rows.duration_of(row), idle_ns(trace, &busy, row));
        let place = Place::of(context, row);
        let of_name = calls.entry((HostKind::Call, place.name)).or_default();
        for sums in [&mut all, of_name, places.entry(place).or_default()] {
            sums.add(duration_ns, idle_ns);
        }
        let around = context.owners.around(row);
        reading.extend(around.filter(|row| READING.contains(&trace.name_of(*row))));
    }
    for row in reading {
        let name = trace.rows.name.get(row as usize).copied();
        let sums = calls.entry((HostKind::Operator, name.unwrap_or_default()));
        let idle_ns = idle_ns(trace, &busy, row);
        sums.or_default().add(trace.rows.duration_of(row), idle_ns);
    }
    let has_device = !trace.work.is_empty();
    Synchronisation {
        count: all.count,
        total_ns: all.total_ns,
        gaps_ns: devices.iter().map(|one| one.idle_gaps.waiting_ns).max(),
        calls: call_rows(trace, &calls, has_device),
        places: place_rows(trace, &places, has_device),
    }
}

/// When any device of each document did anything.
fn busy(trace: &Trace) -> BTreeMap<u32, Vec<Interval>> {
    let mut busy: BTreeMap<u32, Vec<Interval>> = BTreeMap::new();
    for work in &trace.work {
        let interval = Interval {
            start_ns: trace.rows.start_of(work.row),
            end_ns: trace.rows.end_ns(work.row),
        };
        let document = trace.document_of(work.row);
        busy.entry(document).or_default().push(interval);
    }
    for intervals in busy.values_mut() {
        *intervals = union(std::mem::take(intervals));
    }
    busy
}

/// The part of a row in which no device did anything.
fn idle_ns(trace: &Trace, busy: &BTreeMap<u32, Vec<Interval>>, row: u32) -> u64 {
    let call = Interval { start_ns: trace.rows.start_of(row), end_ns: trace.rows.end_ns(row) };
    let busy = busy.get(&trace.document_of(row));
    let busy_ns = busy.map_or(0, |busy| length_within(call, busy));
    call.length_ns().saturating_sub(busy_ns)
}

/// Names by their numbers: of the call, and of what is around it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    name: u32,
    operator: Option<u32>,
    range: Option<u32>,
    module: Option<u32>,
    function: Option<u32>,
}

impl Place {
    fn of(context: &TraceContext<'_>, row: u32) -> Self {
        let (trace, owners): (&Trace, &Owners) = (context.trace, &context.owners);
        let name = |row: u32| trace.rows.name.get(row as usize).copied();
        let innermost = |kind| owners.innermost(trace, row, kind).and_then(name);
        Self {
            name: name(row).unwrap_or_default(),
            operator: innermost(HostKind::Operator),
            range: innermost(HostKind::Range),
            module: innermost(HostKind::Module),
            function: function_around(context, row).and_then(name),
        }
    }
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

fn call_rows(
    trace: &Trace,
    calls: &BTreeMap<(HostKind, u32), Sums>,
    has_device: bool,
) -> Vec<SyncCall> {
    let row = |(&(kind, name), sums): (&(HostKind, u32), &Sums)| SyncCall {
        kind,
        name: trace.names.get(name).to_owned(),
        count: sums.count,
        total_ns: sums.total_ns,
        longest_ns: sums.longest_ns,
        idle_ns: has_device.then_some(sums.idle_ns),
    };
    let mut rows: Vec<SyncCall> = calls.iter().map(row).collect();
    rows.sort_by_cached_key(|row| (Reverse(row.total_ns), row.kind, row.name.clone()));
    rows
}

fn place_rows(trace: &Trace, places: &BTreeMap<Place, Sums>, has_device: bool) -> Vec<SyncPlace> {
    let named = |name: Option<u32>| name.map(|name| trace.names.get(name).to_owned());
    let module = |name: Option<String>| {
        name.map(|name| name.strip_prefix(MODULE).unwrap_or(&name).to_owned())
    };
    let row = |(place, sums): (&Place, &Sums)| SyncPlace {
        name: trace.names.get(place.name).to_owned(),
        operator: named(place.operator),
        range: named(place.range),
        module: module(named(place.module)),
        function: named(place.function),
        count: sums.count,
        total_ns: sums.total_ns,
        longest_ns: sums.longest_ns,
        idle_ns: has_device.then_some(sums.idle_ns),
    };
    let mut rows: Vec<SyncPlace> = places.iter().map(row).collect();
    rows.sort_by(|a, b| {
        let by_time = b.total_ns.cmp(&a.total_ns);
        by_time.then_with(|| a.names().cmp(&b.names()))
    });
    rows
}
