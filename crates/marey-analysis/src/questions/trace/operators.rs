//! Which operators took the time of the host, and which launched the work of the devices?

use std::cmp::Reverse;

use serde::Serialize;

use super::TraceContext;
use super::nested_sums::{Launch, NO_GROUP, launches, nested_sums};
use super::owners::HostKind;
use crate::stats::{ratio, sum};

/// Operators, ranges that the program named, and calls of the runtime, as torch's own `key_averages` has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Operators {
    /// By kind and name, the one with most time of its own first: on the host, or of what it launched itself, whichever is more.
    pub rows: Vec<OperatorRow>,
    /// Operators by name and shapes of their inputs, likewise. Empty when the trace has no shapes (`record_shapes=True`).
    pub by_shape: Vec<OperatorRow>,
}

/// All calls of an operator.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OperatorRow {
    /// What it is.
    pub kind: HostKind,
    /// Its name.
    pub name: String,
    /// The shapes of its inputs as the trace writes them; `None` when it does not, or when they are not kept apart.
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
/// O(n log n) for n operators, ranges and calls; 32 bytes each while it runs.
pub fn operators(context: &TraceContext<'_>) -> Operators {
    let has_shapes = !context.trace.inputs.is_empty();
    let wholes = if has_shapes { wholes(context) } else { Vec::new() };
    let calls = calls(context, &wholes);
    let launches = launches(context.trace, &context.timelines);
    let of_operators = calls.partition_point(|call| call.0 == HostKind::Operator);
    let by_shape = calls.get(..of_operators).filter(|_| has_shapes);
    Operators {
        rows: grouped(context, &wholes, &calls, &launches, |call| (call.0, call.1, 0)),
        by_shape: by_shape.map_or_else(Vec::new, |calls| {
            grouped(context, &wholes, calls, &launches, |call| (call.0, call.1, call.2))
        }),
    }
}

/// Every call that began in the part that is asked about; the same ones next to each other.
fn calls(context: &TraceContext<'_>, wholes: &[u32]) -> Vec<Called> {
    let trace = context.trace;
    let calls = trace.rows.each().filter_map(|row| called(context, wholes, row));
    let mut calls: Vec<Called> = calls.filter(|call| context.has_row(call.3)).collect();
    calls.sort_unstable();
    calls
}

/// A row as a call; `None` when it is a module or function of Python, or of a device.
fn called(context: &TraceContext<'_>, wholes: &[u32], row: u32) -> Option<Called> {
    let trace = context.trace;
    let kind = context.owners.kind(trace, row)?;
    if matches!(kind, HostKind::Module | HostKind::Function) {
        return None;
    }
    let name = trace.rows.name_of(row)?;
    let whole = wholes.get(row as usize).copied().unwrap_or(row);
    let shapes = trace.inputs_of(whole).map_or(0, |inputs| u64::from(inputs.shapes) + 1);
    Some((kind, name, shapes, row))
}

/// Of each row, the call that it is part of in the end: itself, where it is part of none.
fn wholes(context: &TraceContext<'_>) -> Vec<u32> {
    let mut wholes: Vec<u32> = context.trace.rows.each().collect();
    // What a row is part of comes before it.
    for row in context.host.in_order() {
        let around = part_of(context, *row).and_then(|around| wholes.get(around as usize));
        if let (Some(whole), Some(place)) = (around.copied(), wholes.get_mut(*row as usize)) {
            *place = whole;
        }
    }
    wholes
}

/// The call that a row is part of: the one directly around it, when that has the same name and does nothing else.
fn part_of(context: &TraceContext<'_>, row: u32) -> Option<u32> {
    let name = |row| context.trace.rows.name_of(row);
    let around = context.owners.around_alone(row)?;
    (name(around) == name(row)).then_some(around)
}

/// The rows of calls that are sorted by what tells them apart.
fn grouped(
    context: &TraceContext<'_>,
    wholes: &[u32],
    calls: &[Called],
    launches: &[Launch],
    key: impl Fn(&Called) -> Key + Copy,
) -> Vec<OperatorRow> {
    let groups: Vec<&[Called]> = calls.chunk_by(|a, b| key(a) == key(b)).collect();
    let keys: Vec<Key> = groups.iter().filter_map(|g| g.first()).map(key).collect();
    // Rows outside of the part that is asked about are in the group that their name has in it.
    let of_row = |row| {
        let called = called(context, wholes, row)?;
        u32::try_from(keys.binary_search(&key(&called)).ok()?).ok()
    };
    let rows = context.trace.rows.each();
    let of_rows: Vec<u32> = rows.map(|row| of_row(row).unwrap_or(NO_GROUP)).collect();
    let sums = nested_sums(context, &of_rows, keys.len(), launches);
    let self_ns = |call: &Called| context.host.self_ns(call.3);
    let all_ns: u128 = calls.iter().map(|call| u128::from(self_ns(call))).sum();
    let has_device = !context.trace.work.is_empty();
    let mut rows: Vec<OperatorRow> = Vec::with_capacity(groups.len());
    for (group, of_group) in groups.iter().zip(sums) {
        let Some(first) = group.first() else { continue };
        let self_ns = sum(group.iter().map(self_ns));
        let shapes = u32::try_from(key(first).2).unwrap_or_default();
        let shapes = shapes.checked_sub(1).map(|s| context.trace.texts.get(s));
        rows.push(OperatorRow {
            kind: first.0,
            name: context.trace.names.get(first.1).to_owned(),
            shapes: shapes.map(str::to_owned),
            count: group.iter().filter(|call| part_of(context, call.3).is_none()).count() as u64,
            self_ns,
            total_ns: of_group.host_ns,
            ratio: (all_ns > 0).then(|| ratio(u128::from(self_ns), all_ns)),
            n_launched: has_device.then_some(of_group.n_launched),
            device_self_ns: has_device.then_some(of_group.device_self_ns),
            device_total_ns: has_device.then_some(of_group.device_total_ns),
        });
    }
    rows.sort_by(|a, b| {
        let own_ns =
            |row: &OperatorRow| Reverse(row.self_ns.max(row.device_self_ns.unwrap_or_default()));
        own_ns(a)
            .cmp(&own_ns(b))
            .then_with(|| (a.kind, &a.name, &a.shapes).cmp(&(b.kind, &b.name, &b.shapes)))
    });
    rows
}
