//! Which operators, shapes and modules launched which work of a device?

use std::cmp::Reverse;

use serde::Serialize;

use super::TraceContext;
use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::graph_replays::Around;
use super::owners::HostKind;
use crate::import::chrome::Trace;
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
    /// Kernels that graphs launched.
    pub n_replayed: u64,
    /// Of these, those whose owners are what the graph was recorded from; of the others it is what replayed the graph.
    pub n_captured: u64,
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
    /// Of these, how often in a graph that was recorded from this owner and replayed.
    pub n_captured: u64,
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

/// Who launched a piece of work, and what it is: owner, kind, name, duration, whether a recording of its graph says so.
type Owned = (Owner, WorkKind, u32, u64, bool);

/// The work of a device by what launched it. A graph that is replayed belongs to what it was recorded from, where that is known, and otherwise
/// to what replays it. O(n log n).
pub fn owned_kernels(context: &TraceContext<'_>, timeline: &DeviceTimeline) -> OwnedKernels {
    let work = || timeline.work.iter();
    let without = || work().filter(|work| work.launch.is_none());
    OwnedKernels {
        by_operator: grouped(context, timeline, |work| {
            let (inner, outer) = operator_around(context, work);
            (inner, outer, NONE)
        }),
        by_shape: if context.has_inputs() {
            grouped(context, timeline, |work| {
                let (inner, outer) = operator_around(context, work);
                let inputs = inner.and_then(|row| context.inputs_around(row));
                (inner, outer, inputs.map_or(NONE, |inputs| inputs.shapes))
            })
        } else {
            Vec::new()
        },
        by_module: if context.has_modules() {
            grouped(context, timeline, |work| {
                let is_module = |row: &Around| context.kind_around(*row) == Some(HostKind::Module);
                (context.around_launch(work).find(is_module), None, NONE)
            })
        } else {
            Vec::new()
        },
        n_replayed: work().filter(|work| context.replays.is_replayed(work)).count() as u64,
        n_captured: work().filter(|work| context.replays.row_of(work).is_some()).count() as u64,
        n_without_launch: without().count() as u64,
        without_launch_ns: sum(without().map(DeviceWork::length_ns)),
    }
}

/// The innermost operator or range around a launch, and the outermost operator of torch if it is another one.
fn operator_around(
    context: &TraceContext<'_>,
    work: &DeviceWork,
) -> (Option<Around>, Option<Around>) {
    let is_operator = |row: &Around| {
        matches!(context.kind_around(*row), Some(HostKind::Operator | HostKind::Range))
    };
    let mut around = context.around_launch(work).filter(is_operator);
    let inner = around.next();
    let is_torch = |row: &Around| {
        let name = context.name_around(*row).map(|name| context.trace.names.get(name));
        context.kind_around(*row) == Some(HostKind::Operator)
            && name.is_some_and(|name| name.starts_with("aten::"))
    };
    (inner, around.filter(is_torch).last())
}

fn grouped(
    context: &TraceContext<'_>,
    timeline: &DeviceTimeline,
    owner: impl Fn(&DeviceWork) -> (Option<Around>, Option<Around>, u32),
) -> Vec<OwnedKernel> {
    let trace = context.trace;
    // Kernels of a graph that nothing is known of have one launch and come one after the other: it is looked at once.
    let mut latest = None;
    let name = |row: Option<Around>| row.and_then(|row| context.name_around(row)).unwrap_or(NONE);
    let mut owned = |work: &DeviceWork| -> Owned {
        let place = context.replays.place_of(work);
        let (inner, outer, shapes) = match latest.filter(|latest: &(_, _)| latest.0 == place) {
            Some((_, owner)) => owner,
            None => latest.insert((place, owner(work))).1,
        };
        let is_captured = matches!(inner, Some(Around::Captured { .. }));
        let owner = (name(inner), name(outer), shapes);
        (owner, work.kind, work.name, work.length_ns(), is_captured)
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
    let &((owner, outermost, shapes), kind, name, ..) = group.first()?;
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
        n_captured: group.iter().filter(|work| work.4).count() as u64,
        total_ns: u64::try_from(all).unwrap_or(u64::MAX),
        mean_ns: ratio(all, group.len() as u128),
        p50_ns: percentile(&durations, 0.5)?,
        p95_ns: percentile(&durations, 0.95)?,
        ratio: (all_ns > 0).then(|| ratio(all, all_ns)),
    })
}
