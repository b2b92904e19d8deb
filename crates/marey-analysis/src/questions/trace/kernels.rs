//! Which kernels, copies and fills took a device's time?

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::kernel_class::{KernelClass, kernel_class};
use crate::import::chrome::Trace;
use crate::stats::{percentile, ratio};

/// Work of a device by name and by class. Sums of durations: work at the same time counts twice, other than in the figures
/// of how busy a device was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kernels {
    /// All durations together, in nanoseconds.
    pub total_ns: u64,
    /// By name, the one that took most first.
    pub rows: Vec<KernelRow>,
    /// Kernels by class, likewise. Copies and fills are not among them.
    pub classes: Vec<ClassRow>,
}

/// All work of one name and kind. Times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KernelRow {
    /// What it is.
    pub kind: WorkKind,
    /// What the name says of a kernel; `None` for copies and fills.
    pub class: Option<KernelClass>,
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRow {
    /// Which.
    pub class: KernelClass,
    /// How many kernels ran.
    pub count: u64,
    /// How many names they have.
    pub n_names: u64,
    /// All durations together, in nanoseconds.
    pub total_ns: u64,
    /// Share of all durations of the device, 0 to 1; `None` when all are zero.
    pub ratio: Option<f64>,
}

/// The work of a device by name.
pub fn kernels(trace: &Trace, timeline: &DeviceTimeline) -> Kernels {
    let duration = |work: &DeviceWork| work.end_ns - work.start_ns;
    let mut work: Vec<Named> = timeline
        .work
        .iter()
        .map(|work| (work.kind, work.name, duration(work), work.origin))
        .collect();
    work.sort_unstable();
    let total_ns = work.iter().fold(0_u64, |sum, w| sum.saturating_add(w.2));
    let groups = work.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    let mut rows: Vec<KernelRow> = groups
        .filter_map(|group| kernel_row(trace, group, total_ns))
        .collect();
    rows.sort_by(|a, b| {
        let time = b.total_ns.cmp(&a.total_ns);
        time.then_with(|| (a.kind, &a.name).cmp(&(b.kind, &b.name)))
    });
    Kernels {
        total_ns,
        classes: classes(&rows, total_ns),
        rows,
    }
}

/// Kind, name, duration and origin of a piece of work.
type Named = (WorkKind, u32, u64, u32);

/// The row of work that has one kind and name, shortest first.
fn kernel_row(trace: &Trace, group: &[Named], all_ns: u64) -> Option<KernelRow> {
    let &(kind, name, min_ns, _) = group.first()?;
    let durations: Vec<u64> = group.iter().map(|work| work.2).collect();
    let name = trace.names.get(name);
    let sum: u128 = durations.iter().copied().map(u128::from).sum();
    let total_ns = u64::try_from(sum).unwrap_or(u64::MAX);
    let is_kernel = matches!(kind, WorkKind::Compute | WorkKind::Communication);
    let mut bytes = group
        .iter()
        .map(|work| trace.work.get(work.3 as usize)?.bytes);
    Some(KernelRow {
        kind,
        class: is_kernel.then(|| kernel_class(name)),
        name: name.to_owned(),
        count: group.len() as u64,
        total_ns,
        min_ns,
        max_ns: durations.last().copied()?,
        mean_ns: ratio(sum, group.len() as u128),
        p50_ns: percentile(&durations, 0.5)?,
        p95_ns: percentile(&durations, 0.95)?,
        ratio: share(total_ns, all_ns),
        bytes: bytes.try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?))),
    })
}

fn share(part_ns: u64, all_ns: u64) -> Option<f64> {
    (all_ns > 0).then(|| ratio(u128::from(part_ns), u128::from(all_ns)))
}

fn classes(rows: &[KernelRow], all_ns: u64) -> Vec<ClassRow> {
    let mut by_class = std::collections::BTreeMap::new();
    for row in rows {
        let Some(class) = row.class else { continue };
        let (count, n_names, total_ns): &mut (u64, u64, u64) = by_class.entry(class).or_default();
        *count += row.count;
        *n_names += 1;
        *total_ns = total_ns.saturating_add(row.total_ns);
    }
    let row = |(class, (count, n_names, total_ns))| ClassRow {
        class,
        count,
        n_names,
        total_ns,
        ratio: share(total_ns, all_ns),
    };
    let mut classes: Vec<ClassRow> = by_class.into_iter().map(row).collect();
    classes.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then(a.class.cmp(&b.class)));
    classes
}
