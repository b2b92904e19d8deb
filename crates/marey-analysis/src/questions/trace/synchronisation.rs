//! Which calls waited for a device, what did that cost, and where do they stand?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::owners::{HostKind, MODULE};
use super::{DeviceAnswers, TraceContext};
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

/// The numbers of the names of a call, and of the innermost operator, range, module and function around it.
type Place = (u32, [Option<u32>; 4]);

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
    let mut calls: BTreeMap<(HostKind, u32), Sums> = BTreeMap::new();
    let mut places: BTreeMap<Place, Sums> = BTreeMap::new();
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
        let name = trace.rows.name_of(row).unwrap_or_default();
        let sums = calls.entry((HostKind::Operator, name)).or_default();
        sums.add(trace.rows.time_of(row), busy(row));
    }
    Synchronisation {
        count: all.count,
        total_ns: all.total_ns,
        gaps_ns: devices.iter().map(|one| one.idle_gaps.waiting_ns).max(),
        calls: call_rows(trace, calls),
        places: place_rows(trace, places),
    }
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

fn place_of(context: &TraceContext<'_>, row: u32) -> Place {
    let trace = context.trace;
    let name = |row: u32| trace.rows.name_of(row);
    let innermost = |kind| context.owners.innermost(trace, row, kind).and_then(name);
    let [operator, range, module] =
        [HostKind::Operator, HostKind::Range, HostKind::Module].map(innermost);
    let function = function_around(context, row).and_then(name);
    (name(row).unwrap_or_default(), [operator, range, module, function])
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

fn call_rows(trace: &Trace, calls: BTreeMap<(HostKind, u32), Sums>) -> Vec<SyncCall> {
    let row = |((kind, name), sums): ((HostKind, u32), Sums)| SyncCall {
        kind,
        name: trace.names.get(name).to_owned(),
        count: sums.count,
        total_ns: sums.total_ns,
        longest_ns: sums.longest_ns,
        idle_ns: (!trace.work.is_empty()).then_some(sums.idle_ns),
    };
    let mut rows: Vec<SyncCall> = calls.into_iter().map(row).collect();
    rows.sort_by_cached_key(|row| (Reverse(row.total_ns), row.kind, row.name.clone()));
    rows
}

fn place_rows(trace: &Trace, places: BTreeMap<Place, Sums>) -> Vec<SyncPlace> {
    let name = |name: Option<u32>| name.map(|name| trace.names.get(name));
    let named = |((call, around), sums): (Place, Sums)| {
        let [operator, range, module, function] = around.map(name);
        let module = module.map(|name| name.strip_prefix(MODULE).unwrap_or(name));
        (trace.names.get(call), [operator, range, module, function], sums)
    };
    let mut rows: Vec<(&str, [Option<&str>; 4], Sums)> = places.into_iter().map(named).collect();
    rows.sort_by_key(|(name, around, sums)| (Reverse(sums.total_ns), *name, *around));
    let row = |(name, around, sums): (&str, [Option<&str>; 4], Sums)| {
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
            idle_ns: (!trace.work.is_empty()).then_some(sums.idle_ns),
        }
    };
    rows.into_iter().map(row).collect()
}
