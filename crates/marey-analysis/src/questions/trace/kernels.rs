//! Which kernels, copies and fills took a device's time?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::kernel_class::{KernelClass, kernel_class};
use super::operator_class::operator_class;
use super::{HostKind, TraceContext};
use crate::import::chrome::{Meanings, Trace};
use crate::stats::{percentile, ratio, sum};

/// Work of a device by name and by class. Sums of durations: work at the same time counts twice, other than in the figures
/// of how busy a device was.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Kernels {
    /// All durations together.
    pub total_ns: u64,
    /// By name, the one that took most first.
    pub rows: Vec<KernelRow>,
    /// Kernels by class, likewise. Copies and fills are not among them.
    pub classes: Vec<ClassRow>,
}

/// All work of one name and kind.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct KernelRow {
    /// What it is.
    pub kind: WorkKind,
    /// What the name says of a kernel, and where it says nothing the operators that launched most of its time; `None` for
    /// copies and fills.
    pub class: Option<KernelClass>,
    /// Kernels of `count` whose class is known from the operator, since their name does not say it.
    pub n_by_operator: u64,
    /// Its name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// All durations together.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// `total_ns / count`.
    pub mean_ns: f64,
    /// The median, as the nearest rank.
    pub p50_ns: u64,
    /// Likewise, 95 of 100 are not longer.
    pub p95_ns: u64,
    /// Share of all durations of the device, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
    /// Bytes moved or filled; `None` when the trace does not say for all of them.
    pub bytes: Option<u64>,
}

/// All kernels of a class.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ClassRow {
    /// Which.
    pub class: KernelClass,
    /// How many kernels ran.
    pub count: u64,
    /// Those of them whose class is known from the operator, since their name does not say it.
    pub n_by_operator: u64,
    /// How many names they have.
    pub n_names: u64,
    /// All durations together.
    pub total_ns: u64,
    /// Share of all durations of the device, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
}

/// The work of a device by name; the class of a kernel whose name says nothing is that of the innermost operator around its
/// launch which has one.
pub fn kernels(context: &TraceContext<'_>, timeline: &DeviceTimeline) -> Kernels {
    let trace = context.trace;
    let mut known = KernelClasses::new(context);
    let mut work: Vec<Named> = timeline
        .work
        .iter()
        .map(|work| Named {
            kind: work.kind,
            name: work.name,
            duration_ns: work.length_ns(),
            origin: work.origin,
            class: known.of(work),
        })
        .collect();
    work.sort_unstable();
    let total_ns = sum(work.iter().map(|work| work.duration_ns));
    let groups = || work.chunk_by(|a, b| (a.kind, a.name) == (b.kind, b.name));
    let mut rows: Vec<KernelRow> =
        groups().filter_map(|group| kernel_row(trace, group, total_ns)).collect();
    rows.sort_by(|a, b| {
        let time = b.total_ns.cmp(&a.total_ns);
        time.then_with(|| (a.kind, &a.name).cmp(&(b.kind, &b.name)))
    });
    Kernels { total_ns, classes: classes(groups(), total_ns), rows }
}

/// What kernels do, each name looked at once.
pub(super) struct KernelClasses<'a, 'b> {
    context: &'a TraceContext<'b>,
    names: Meanings<'a, KernelClass>,
}

impl<'a, 'b> KernelClasses<'a, 'b> {
    pub(super) fn new(context: &'a TraceContext<'b>) -> Self {
        Self { context, names: Meanings::new(&context.trace.names) }
    }

    /// The class of a kernel, and whether an operator told it; `None` for copies and fills.
    pub(super) fn of(&mut self, work: &DeviceWork) -> Option<(KernelClass, bool)> {
        if !work.kind.is_kernel() {
            return None;
        }
        let known = self.names.of(work.name, kernel_class)?;
        let launch = work.launch.filter(|_| known == KernelClass::Other);
        let told = launch.and_then(|launch| self.by_operator(launch));
        Some((told.unwrap_or(known), told.is_some()))
    }

    fn by_operator(&self, launch: u32) -> Option<KernelClass> {
        let Self { context, .. } = self;
        context.owners.around(launch).find_map(|row| {
            let is_operator = context.owners.kind(context.trace, row) == Some(HostKind::Operator);
            is_operator.then(|| operator_class(context.trace.name_of(row))).flatten()
        })
    }
}

/// A piece of work, as it is sorted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    kind: WorkKind,
    name: u32,
    duration_ns: u64,
    origin: u32,
    /// Its class, and whether an operator gave it; `None` for copies and fills.
    class: Option<(KernelClass, bool)>,
}

/// The row of work that has one kind and name, shortest first.
fn kernel_row(trace: &Trace, group: &[Named], all_ns: u64) -> Option<KernelRow> {
    let first = group.first()?;
    let durations: Vec<u64> = group.iter().map(|work| work.duration_ns).collect();
    let all: u128 = durations.iter().copied().map(u128::from).sum();
    let total_ns = u64::try_from(all).unwrap_or(u64::MAX);
    let mut bytes = group.iter().map(|work| trace.work.get(work.origin as usize)?.bytes);
    Some(KernelRow {
        kind: first.kind,
        class: most_time(group),
        n_by_operator: group.iter().filter(|work| work.class.is_some_and(|class| class.1)).count()
            as u64,
        name: trace.names.get(first.name).to_owned(),
        count: group.len() as u64,
        total_ns,
        min_ns: first.duration_ns,
        max_ns: durations.last().copied()?,
        mean_ns: ratio(all, group.len() as u128),
        p50_ns: percentile(&durations, 0.5)?,
        p95_ns: percentile(&durations, 0.95)?,
        ratio: share(total_ns, all_ns),
        bytes: bytes.try_fold(0_u64, |all, bytes| Some(all.saturating_add(bytes?))),
    })
}

fn share(part_ns: u64, all_ns: u64) -> Option<f64> {
    (all_ns > 0).then(|| ratio(u128::from(part_ns), u128::from(all_ns)))
}

/// The class that has most of the time.
fn most_time(group: &[Named]) -> Option<KernelClass> {
    let mut times: BTreeMap<KernelClass, u128> = BTreeMap::new();
    for work in group {
        *times.entry(work.class?.0).or_default() += u128::from(work.duration_ns);
    }
    let most = times.into_iter().max_by_key(|(_, time_ns)| *time_ns);
    most.map(|(class, _)| class)
}

/// The classes of work that is grouped by its names.
fn classes<'a>(groups: impl Iterator<Item = &'a [Named]>, all_ns: u64) -> Vec<ClassRow> {
    let mut by_class: BTreeMap<KernelClass, ClassRow> = BTreeMap::new();
    for group in groups {
        let mut of_name = BTreeSet::new();
        for (work, class, is_by_operator) in
            group.iter().filter_map(|work| Some((work, work.class?.0, work.class?.1)))
        {
            let row = by_class.entry(class).or_insert(ClassRow {
                class,
                count: 0,
                n_by_operator: 0,
                n_names: 0,
                total_ns: 0,
                ratio: None,
            });
            row.count += 1;
            row.n_by_operator += u64::from(is_by_operator);
            row.n_names += u64::from(of_name.insert(class));
            row.total_ns = row.total_ns.saturating_add(work.duration_ns);
        }
    }
    let rows = by_class.into_values();
    let mut rows: Vec<ClassRow> =
        rows.map(|row| ClassRow { ratio: share(row.total_ns, all_ns), ..row }).collect();
    rows.sort_by_key(|row| (Reverse(row.total_ns), row.class));
    rows
}
