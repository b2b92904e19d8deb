//! Which operators took the time of the host, and which launched the work of the devices?

use std::cmp::Reverse;

use serde::Serialize;

use super::TraceContext;
use super::launches::{Launch, launches};
use super::owners::HostKind;
use crate::import::chrome::Trace;
use crate::stats::ratio;

/// Operators, ranges that the program named, and calls of the runtime, as torch's own `key_averages` has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Operators {
    /// By kind and name, the one with most time of its own on the host first.
    pub rows: Vec<OperatorRow>,
    /// Operators by name and shapes of their inputs, likewise. Empty when the trace has no shapes (`record_shapes=True`).
    pub by_shape: Vec<OperatorRow>,
}

/// All calls of an operator. Times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OperatorRow {
    /// What it is.
    pub kind: HostKind,
    /// Its name.
    pub name: String,
    /// The shapes of its inputs as the trace writes them; `None` when it does not, or when they are not told apart.
    pub shapes: Option<String>,
    /// How often it was called. A call directly within a call of the same name, with nothing else beside it there, is part of
    /// that one: so overloads of an operator call each other.
    pub count: u64,
    /// Its time on the host without that of anything it called, Python functions included.
    pub self_ns: u64,
    /// Its time on the host with all that it called. A call within a call of the same counts once.
    pub total_ns: u64,
    /// Share of the time that all rows have of their own, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
    /// Kernels, copies and fills that it launched itself; `None` when the trace has no device.
    pub n_launched: Option<u64>,
    /// Their durations together, likewise.
    pub device_self_ns: Option<u64>,
    /// The durations of all that it launched, or what it called, likewise.
    pub device_total_ns: Option<u64>,
}

/// A call of an operator: kind, name, shapes (0 for none, else their number and 1; those of the call that it is part of), row.
type Called = (HostKind, u32, u64, u32);

/// What of a [`Called`] tells rows apart.
type Key = (HostKind, u32, u64);

/// Operators with their time on host and devices.
///
/// ```text
/// linear    |----------------|      self 2 + 3   total 16, launched itself: nothing, with all: k
/// addmm       |-----------|         self 13 - 4
/// launch         |---|  ↓
/// device                    |--k--|
/// ```
///
/// O(n log n) for n operators, ranges and calls; 24 bytes each while it runs.
pub fn operators(context: &TraceContext<'_>) -> Operators {
    let calls = calls(context);
    let launches = launches(context.trace, &context.timelines);
    let has_shapes = !context.trace.inputs.is_empty();
    let of_operators = calls.partition_point(|call| call.0 == HostKind::Operator);
    let by_shape = calls.get(..of_operators).filter(|_| has_shapes);
    Operators {
        rows: grouped(context, &calls, &launches, |call| (call.0, call.1, 0)),
        by_shape: by_shape.map_or_else(Vec::new, |calls| {
            grouped(context, calls, &launches, |call| (call.0, call.1, call.2))
        }),
    }
}

/// Every call that began in the part that is asked about; the same ones next to each other.
fn calls(context: &TraceContext<'_>) -> Vec<Called> {
    let trace = context.trace;
    let mut calls: Vec<Called> = (0_u32..)
        .take(trace.rows.len())
        .filter_map(|row| called(context, row))
        .filter(|call| context.has_row(call.3))
        .collect();
    calls.sort_unstable();
    calls
}

/// A row as a call; `None` when it is a module or function of Python, or of a device.
fn called(context: &TraceContext<'_>, row: u32) -> Option<Called> {
    let trace = context.trace;
    let kind = context.owners.kind(trace, row)?;
    if matches!(kind, HostKind::Module | HostKind::Function) {
        return None;
    }
    let name = trace.rows.name.get(row as usize).copied()?;
    let whole = std::iter::successors(Some(row), |row| part_of(context, *row)).last();
    let shapes = shapes(trace, whole?).map_or(0, |shapes| u64::from(shapes) + 1);
    Some((kind, name, shapes, row))
}

/// The call that a row is part of: the one directly around it, when that has the same name and does nothing else.
fn part_of(context: &TraceContext<'_>, row: u32) -> Option<u32> {
    let name = |row: u32| context.trace.rows.name.get(row as usize);
    let around = context.owners.around_alone(row)?;
    (name(around) == name(row)).then_some(around)
}

/// The shapes of an operator's inputs, by their number; `None` when the trace has none of it.
pub(super) fn shapes(trace: &Trace, row: u32) -> Option<u32> {
    let at = trace.inputs.binary_search_by_key(&row, |inputs| inputs.row);
    let inputs = at.ok().and_then(|at| trace.inputs.get(at));
    inputs.map(|inputs| inputs.shapes)
}

#[derive(Clone, Copy, Default)]
struct OnDevice {
    n_launched: u64,
    self_ns: u64,
    total_ns: u64,
}

/// The rows of calls that are sorted by what tells them apart.
fn grouped(
    context: &TraceContext<'_>,
    calls: &[Called],
    launches: &[Launch],
    key: impl Fn(&Called) -> Key + Copy,
) -> Vec<OperatorRow> {
    let groups: Vec<&[Called]> = calls.chunk_by(|a, b| key(a) == key(b)).collect();
    let keys: Vec<Key> = groups.iter().filter_map(|g| g.first()).map(key).collect();
    let devices = on_devices(context, &keys, launches, key);
    let self_ns = |call: &Called| context.host.self_ns(call.3);
    let all_ns: u128 = calls.iter().map(|call| u128::from(self_ns(call))).sum();
    let has_device = !context.trace.work.is_empty();
    let mut rows: Vec<OperatorRow> = Vec::with_capacity(groups.len());
    for (group, device) in groups.iter().zip(devices) {
        let Some(first) = group.first() else { continue };
        let sum = |time: &dyn Fn(&Called) -> u64| group.iter().map(time).fold(0, add);
        let total_ns = sum(&|call| beyond_itself_ns(context, call, key));
        let self_ns = sum(&self_ns);
        let shapes = u32::try_from(key(first).2).unwrap_or_default();
        let shapes = shapes.checked_sub(1).map(|s| context.trace.texts.get(s));
        rows.push(OperatorRow {
            kind: first.0,
            name: context.trace.names.get(first.1).to_owned(),
            shapes: shapes.map(str::to_owned),
            count: sum(&|call| u64::from(part_of(context, call.3).is_none())),
            self_ns,
            total_ns,
            ratio: (all_ns > 0).then(|| ratio(u128::from(self_ns), all_ns)),
            n_launched: has_device.then_some(device.n_launched),
            device_self_ns: has_device.then_some(device.self_ns),
            device_total_ns: has_device.then_some(device.total_ns),
        });
    }
    rows.sort_by(|a, b| {
        let name = |row: &OperatorRow| (row.kind, row.name.clone(), row.shapes.clone());
        let time = Reverse(a.self_ns).cmp(&Reverse(b.self_ns));
        time.then_with(|| name(a).cmp(&name(b)))
    });
    rows
}

fn add(a: u64, b: u64) -> u64 {
    a.saturating_add(b)
}

/// The time of a call that is no time of a call of the same around it: none, unless it sticks out of that.
fn beyond_itself_ns(
    context: &TraceContext<'_>,
    call: &Called,
    key: impl Fn(&Called) -> Key,
) -> u64 {
    let rows = &context.trace.rows;
    let name = rows.name.get(call.3 as usize);
    let is_same = |row: &u32| {
        // Names differ for nearly all: the rest is looked up for few.
        rows.name.get(*row as usize) == name
            && called(context, *row).is_some_and(|outer| key(&outer) == key(call))
    };
    let same = context.owners.around(call.3).filter(is_same);
    let until_ns = same.map(|row| rows.end_ns(row)).max().unwrap_or_default();
    let from_ns = until_ns.max(rows.start_of(call.3));
    rows.end_ns(call.3).saturating_sub(from_ns)
}

/// What was launched, for each key: by the innermost operator or range around the launch, and by all around it.
fn on_devices(
    context: &TraceContext<'_>,
    keys: &[Key],
    launches: &[Launch],
    key: impl Fn(&Called) -> Key,
) -> Vec<OnDevice> {
    let mut sums = vec![OnDevice::default(); keys.len()];
    let mut met: Vec<usize> = Vec::new();
    for launch in launches {
        met.clear();
        let mut is_first = true;
        let call = std::iter::once(launch.row);
        for row in call.chain(context.owners.around(launch.row)) {
            let Some(called) = called(context, row) else {
                continue;
            };
            let is_own = called.0 != HostKind::Call && std::mem::take(&mut is_first);
            let Ok(at) = keys.binary_search(&key(&called)) else {
                continue;
            };
            let Some(sum) = sums.get_mut(at) else {
                continue;
            };
            // A call launches, and so does the operator that makes it.
            if is_own || called.0 == HostKind::Call {
                sum.n_launched += launch.n_ops;
                sum.self_ns = add(sum.self_ns, launch.total_ns);
            }
            if !met.contains(&at) {
                sum.total_ns = add(sum.total_ns, launch.total_ns);
                met.push(at);
            }
        }
    }
    sums
}
