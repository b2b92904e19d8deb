//! Why devices took longer, or not as long, for the operators of two traces: other work, or another speed.
//!
//! ```text
//! baseline     |------ 60 ms, 6 PFLOP ------|
//! candidate    |-- 30 ms, 4 PFLOP --|                at the baseline's speed 40 ms: -20 ms of work, -10 ms of speed
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::findings::{Figure, FigureUnit};
use crate::questions::trace::{
    DeviceWork, KNOWN_WORK, KernelClass, ModelledClass, TraceContext, modelled_work,
};
use crate::stats::{float, sum, sums_by};

/// Device time of a class of operators on both sides, and why it differs.
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

    /// All together.
    pub fn total(changes: &[Self]) -> Self {
        let of = |part: fn(&Self) -> Option<f64>| Some(changes.iter().filter_map(part).sum());
        Self {
            class: None,
            baseline_ns: sum(changes.iter().map(|row| row.baseline_ns)),
            candidate_ns: sum(changes.iter().map(|row| row.candidate_ns)),
            of_work_ns: of(|row| row.of_work_ns),
            of_speed_ns: of(|row| row.of_speed_ns),
        }
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

/// By class, what changed most first, and then what has none; the differences add up to that of all device time. Empty unless each side is
/// one trace, most of whose work is known.
pub(super) fn work_changes(before: &[Option<Done>], after: &[Option<Done>]) -> Vec<WorkChange> {
    let ([Some(before)], [Some(after)]) = (before, after) else { return Vec::new() };
    let classes: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    let of = |side: &Done, class| side.get(&class).copied().unwrap_or_default();
    let change = |class: Option<KernelClass>| {
        let (before, after) = (of(before, class), of(after, class));
        let of_work_ns = class.and_then(|_| of_work_ns(before, after));
        let (baseline_ns, candidate_ns) = (before[0], after[0]);
        let row = WorkChange { class, baseline_ns, candidate_ns, of_work_ns, of_speed_ns: None };
        WorkChange { of_speed_ns: of_work_ns.map(|ns| row.difference_ns() - ns), ..row }
    };
    let mut changes: Vec<WorkChange> = classes.into_iter().map(change).collect();
    changes.retain(|row| row.baseline_ns > 0 || row.candidate_ns > 0);
    let changed_ns = |row: &WorkChange| row.baseline_ns.abs_diff(row.candidate_ns);
    changes.sort_by_key(|row| (row.class.is_none(), Reverse(changed_ns(row))));
    changes
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
    let all = WorkChange::total(changes);
    let (work, speed) = all.of_work_ns.zip(all.of_speed_ns)?;
    let (total, least) = (all.difference_ns(), SAID * float(all.baseline_ns));
    let shown = |value| Figure { value, unit: FigureUnit::Ns }.difference();
    let [more, slower] = [work > 0.0, speed > 0.0];
    let parts = [
        (work, if more { "more work" } else { "less work" }),
        (speed, if slower { "the same work done slower" } else { "the same work done faster" }),
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
