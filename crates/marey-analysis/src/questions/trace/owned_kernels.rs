//! Which operators, shapes and modules launched which work of a device?

use std::cmp::Reverse;

use serde::Serialize;

use super::TraceContext;
use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::owners::HostKind;
use crate::import::chrome::{Class, Trace};
use crate::stats::{percentile, ratio, sum};

/// Work of a device by what launched it. Sums of durations: work at the same time counts twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OwnedKernels {
    /// By the innermost operator or range around the launch, the one that took most first.
    pub by_operator: Vec<OwnedKernel>,
    /// By that and the shapes of its inputs, likewise. Empty when the trace has no shapes.
    pub by_shape: Vec<OwnedKernel>,
    /// By the innermost module around the launch, likewise. Empty when the trace has no modules.
    pub by_module: Vec<OwnedKernel>,
    /// Kernels, copies and fills whose launch the trace does not have.
    pub n_without_launch: u64,
    /// Their durations together.
    pub without_launch_ns: u64,
}

/// All work of one name that one owner launched.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OwnedKernel {
    /// The operator, range or module; `None` when there is none around the launch, or no launch.
    pub owner: Option<String>,
    /// The outermost operator of torch (`aten::`) around it, for operators; `None` when there is none other.
    pub outermost: Option<String>,
    /// The shapes of the operator's inputs; `None` when they are not kept apart, or not known.
    pub shapes: Option<String>,
    /// What the work is.
    pub kind: WorkKind,
    /// Its name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// All durations together.
    pub total_ns: u64,
    /// `total_ns / count`.
    pub mean_ns: f64,
    /// The median, as the nearest rank.
    pub p50_ns: u64,
    /// Likewise, 95 of 100 are not longer.
    pub p95_ns: u64,
    /// Share of all durations of the device, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
}

/// Owner, outermost and shapes by their numbers, [`NONE`] where there is none.
type Owner = (u32, u32, u32);

/// No number.
const NONE: u32 = u32::MAX;

/// Who launched a piece of work, and what it is: owner, kind, name, duration.
type Owned = (Owner, WorkKind, u32, u64);

/// The work of a device by what launched it. A graph that is replayed belongs to what replays it. O(n log n).
pub fn owned_kernels(context: &TraceContext<'_>, timeline: &DeviceTimeline) -> OwnedKernels {
    let trace = context.trace;
    let without = || timeline.work.iter().filter(|work| work.launch.is_none());
    let operator = |launch| operator_around(context, launch);
    OwnedKernels {
        by_operator: grouped(trace, timeline, |launch| {
            let (inner, outer) = operator(launch);
            (name(trace, inner), name(trace, outer), NONE)
        }),
        by_shape: if trace.inputs.is_empty() {
            Vec::new()
        } else {
            grouped(trace, timeline, |launch| {
                let (inner, outer) = operator(launch);
                let inputs = inner.and_then(|row| trace.inputs_of(row));
                (
                    name(trace, inner),
                    name(trace, outer),
                    inputs.map_or(NONE, |inputs| inputs.shapes),
                )
            })
        },
        by_module: if context.owners.has_modules() {
            grouped(trace, timeline, |launch| {
                let module = context.owners.innermost(trace, launch, HostKind::Module);
                (name(trace, module), NONE, NONE)
            })
        } else {
            Vec::new()
        },
        n_without_launch: without().count() as u64,
        without_launch_ns: sum(without().map(DeviceWork::length_ns)),
    }
}

/// The innermost operator or range around a row, and the outermost operator of torch if it is another one.
fn operator_around(context: &TraceContext<'_>, row: u32) -> (Option<u32>, Option<u32>) {
    let trace = context.trace;
    let is_operator =
        |row: &u32| matches!(trace.class_of(*row), Class::Operator | Class::Annotation);
    let mut around = context.owners.around(row).filter(is_operator);
    let inner = around.next();
    let is_torch = |row: &u32| {
        trace.class_of(*row) == Class::Operator && trace.name_of(*row).starts_with("aten::")
    };
    (inner, around.filter(is_torch).last())
}

fn name(trace: &Trace, row: Option<u32>) -> u32 {
    row.and_then(|row| trace.rows.name_of(row)).unwrap_or(NONE)
}

fn grouped(
    trace: &Trace,
    timeline: &DeviceTimeline,
    owner: impl Fn(u32) -> Owner,
) -> Vec<OwnedKernel> {
    // Kernels of a graph have one launch and come one after the other: it is looked at once.
    let mut latest: Option<(u32, Owner)> = None;
    let mut owned = |work: &DeviceWork| -> Owned {
        let owner = work.launch.map_or((NONE, NONE, NONE), |launch| {
            match latest.filter(|latest| latest.0 == launch) {
                Some((_, owner)) => owner,
                None => latest.insert((launch, owner(launch))).1,
            }
        });
        (owner, work.kind, work.name, work.length_ns())
    };
    let mut work: Vec<Owned> = timeline.work.iter().map(&mut owned).collect();
    work.sort_unstable();
    let all_ns: u128 = work.iter().map(|work| u128::from(work.3)).sum();
    let groups = work.chunk_by(|a, b| (a.0, a.1, a.2) == (b.0, b.1, b.2));
    let mut rows: Vec<OwnedKernel> = groups.filter_map(|group| row(trace, group, all_ns)).collect();
    rows.sort_by(|a, b| {
        let order = |row: &OwnedKernel| {
            let owner = (row.owner.clone(), row.outermost.clone(), row.shapes.clone());
            (owner, row.kind, row.name.clone())
        };
        let time = Reverse(a.total_ns).cmp(&Reverse(b.total_ns));
        time.then_with(|| order(a).cmp(&order(b)))
    });
    rows
}

/// The row of work that has one owner, kind and name, shortest first.
fn row(trace: &Trace, group: &[Owned], all_ns: u128) -> Option<OwnedKernel> {
    let &((owner, outermost, shapes), kind, name, _) = group.first()?;
    let durations: Vec<u64> = group.iter().map(|work| work.3).collect();
    let all: u128 = durations.iter().copied().map(u128::from).sum();
    let known = |number: u32| (number != NONE).then_some(number);
    let named = |number: u32| known(number).map(|name| trace.names.get(name).to_owned());
    Some(OwnedKernel {
        owner: named(owner),
        outermost: named(outermost),
        shapes: known(shapes).map(|shapes| trace.texts.get(shapes).to_owned()),
        kind,
        name: trace.names.get(name).to_owned(),
        count: group.len() as u64,
        total_ns: u64::try_from(all).unwrap_or(u64::MAX),
        mean_ns: ratio(all, group.len() as u128),
        p50_ns: percentile(&durations, 0.5)?,
        p95_ns: percentile(&durations, 0.95)?,
        ratio: (all_ns > 0).then(|| ratio(all, all_ns)),
    })
}
