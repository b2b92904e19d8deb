//! Why devices took longer, or not as long, for the operators of two traces: other work, or another speed.
//!
//! ```text
//! baseline     |------ 60 ms, 6 PFLOP ------|
//! candidate    |-- 30 ms, 4 PFLOP --|                at the baseline's speed 40 ms: -20 ms of work, -10 ms of speed
//! ```

use std::collections::BTreeMap;

use serde::Serialize;

use crate::findings::{Figure, FigureUnit};
use crate::questions::trace::{
    DeviceWork, KNOWN_WORK, KernelClass, ModelledClass, TraceContext, modelled_work,
};
use crate::stats::{float, sum, sums_by};

/// Device time of a class of operators on both sides, and why it differs. Of several traces of a side the mean.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WorkChange {
    /// The class; `None` for what no operator with a formula launched.
    pub class: Option<KernelClass>,
    /// Device time of the baseline.
    pub baseline_ns: u64,
    /// Of the candidate.
    pub candidate_ns: u64,
    /// What of the difference is of more work or less: what that would take at the baseline's speed. By FLOPs, or by least bytes where a
    /// class has no FLOPs. `None` where no work is known.
    pub of_work_ns: Option<f64>,
    /// What of the difference is of the same work done faster or slower, likewise.
    pub of_speed_ns: Option<f64>,
}

impl WorkChange {
    /// Candidate less baseline.
    pub fn difference_ns(&self) -> f64 {
        float(self.candidate_ns) - float(self.baseline_ns)
    }
}

/// Device time, FLOPs and bytes by class of operators; what none of them launched has no class.
pub(super) type Done = BTreeMap<Option<KernelClass>, [u64; 3]>;

/// What devices did for operators; `None` where less than nine tenths of that is known.
pub(super) fn done(context: &TraceContext<'_>) -> Option<Done> {
    let mut each = Vec::new();
    let (mut known_ns, mut all_ns) = (0, 0);
    for timeline in &context.timelines {
        let work = modelled_work(context, timeline)?;
        let work_ns = sum(timeline.work.iter().map(DeviceWork::length_ns));
        let of_classes_ns = sum(work.classes.iter().map(|row| row.all.device_ns));
        let figures = |row: &ModelledClass| {
            let amounts = [row.all.flops, row.all.bytes].map(Option::unwrap_or_default);
            (Some(row.class), [row.all.device_ns, amounts[0], amounts[1]])
        };
        each.extend(work.classes.iter().map(figures));
        each.push((None, [work_ns - of_classes_ns, 0, 0]));
        known_ns += work.modelled_ns;
        all_ns += work_ns;
    }
    let is_known = all_ns > 0 && float(known_ns) >= KNOWN_WORK * float(all_ns);
    is_known.then(|| sums_by(each.into_iter()))
}

/// By class, what changed most first, and then what has none; the differences add up to that of all device time. Empty unless most of the
/// work of every trace is known.
pub(super) fn work_changes(sides: [&[Option<Done>]; 2]) -> Vec<WorkChange> {
    let [Some(before), Some(after)] = sides.map(mean) else { return Vec::new() };
    let mut classes: Vec<_> = before.keys().chain(after.keys()).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    let of = |side: &Done, class| side.get(&class).copied().unwrap_or_default();
    let change = |class: Option<KernelClass>| {
        let (before, after) = (of(&before, class), of(&after, class));
        let of_work_ns = class.and_then(|_| of_work_ns(before, after));
        let (baseline_ns, candidate_ns) = (before[0], after[0]);
        let row = WorkChange { class, baseline_ns, candidate_ns, of_work_ns, of_speed_ns: None };
        WorkChange { of_speed_ns: of_work_ns.map(|ns| row.difference_ns() - ns), ..row }
    };
    let mut changes: Vec<WorkChange> = classes.into_iter().map(change).collect();
    changes.retain(|row| row.baseline_ns > 0 || row.candidate_ns > 0);
    changes.sort_by(|a, b| {
        let size = |row: &WorkChange| row.difference_ns().abs();
        a.class.is_none().cmp(&b.class.is_none()).then(size(b).total_cmp(&size(a)))
    });
    changes
}

/// `None` of no trace, or where one is not known.
fn mean(traces: &[Option<Done>]) -> Option<Done> {
    let known = traces.iter().map(Option::as_ref).collect::<Option<Vec<&Done>>>()?;
    let each = known.iter().flat_map(|done| done.iter().map(|(class, figures)| (*class, *figures)));
    let mut sums = sums_by(each);
    let n = known.len() as u64;
    sums.values_mut().flatten().for_each(|figure| *figure /= n);
    (n > 0).then_some(sums)
}

/// How much longer the candidate's work would take at the baseline's speed; all of it where only one side has the class.
fn of_work_ns(before: [u64; 3], after: [u64; 3]) -> Option<f64> {
    let [[from_ns, ..], [to_ns, ..]] = [before, after];
    if from_ns == 0 || to_ns == 0 {
        return Some(float(to_ns) - float(from_ns));
    }
    let mut amounts = before.into_iter().zip(after).skip(1);
    let (from, to) = amounts.find(|(from, to)| *from > 0 && *to > 0)?;
    Some(float(from_ns) * (float(to) / float(from) - 1.0))
}

/// The share of the baseline's device time from which on a change is said.
const SAID: f64 = 0.02;

/// `Device time -30.0 ms: -20.0 ms by less work, -10.0 ms by the same work done faster.`; `None` where hardly anything changed.
pub(super) fn said(changes: &[WorkChange]) -> Option<String> {
    let total: f64 = changes.iter().map(WorkChange::difference_ns).sum();
    let work: f64 = changes.iter().filter_map(|row| row.of_work_ns).sum();
    let speed: f64 = changes.iter().filter_map(|row| row.of_speed_ns).sum();
    let least = SAID * float(sum(changes.iter().map(|row| row.baseline_ns)));
    let shown = |value| Figure { value, unit: FigureUnit::Ns }.difference();
    let parts = [
        (work, if work > 0.0 { "more work" } else { "less work" }),
        (
            speed,
            if speed > 0.0 { "the same work done slower" } else { "the same work done faster" },
        ),
        (total - work - speed, "what is not known"),
    ];
    let parts = parts.into_iter().filter(|(value, _)| value.abs() >= least / 10.0);
    let parts: Vec<String> =
        parts.map(|(value, why)| format!("{} by {why}", shown(value))).collect();
    (least > 0.0 && total.abs() >= least)
        .then(|| format!("Device time {}: {}.", shown(total), parts.join(", ")))
}

#[cfg(test)]
mod tests;
