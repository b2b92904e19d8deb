//! The calls of operators that launched a device's work, and what those of a step, a phase, a module or a class come to.

use std::collections::BTreeMap;

use super::KernelClass;
use super::modelled_figures::Sums;
use crate::intervals::Interval;
use crate::model::{DevicePeaks, Work};

/// What tells calls apart: name, inputs without their row.
pub(super) type Key = (u32, u32, Option<u32>, Option<u32>);

/// Calls with equal inputs.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) key: Key,
    pub(super) class: KernelClass,
    pub(super) work: Work,
}

/// A call with what it launched on one device.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelledCall {
    /// Its place among the groups.
    pub(super) group: usize,
    /// The call of the runtime that launched the first of its work, and when: that says which part it belongs to.
    pub(super) launch: u32,
    pub(super) at_ns: u64,
    pub(super) n_launched: u64,
    /// Durations of its work together.
    pub(super) device_ns: u64,
}

/// The calls that launched work of a device.
#[derive(Debug)]
pub(super) struct ModelledCalls {
    pub(super) groups: Vec<Group>,
    /// In order of their first launches.
    pub(super) calls: Vec<ModelledCall>,
    pub(super) peaks: Option<DevicePeaks>,
}

impl ModelledCalls {
    /// What calls come to, by whatever they have in common.
    ///
    /// ```text
    /// step 0        |----------------|                     step 0: mm A, mm A, add
    /// step 1                           |----------------|  step 1: mm A, add
    /// calls          mm A  mm A  add    mm A   add         mm: 3 of equal inputs, add: 2
    /// ```
    pub(super) fn sums_by<'a, K: Ord>(
        &self,
        calls: impl Iterator<Item = (K, &'a ModelledCall)>,
    ) -> BTreeMap<K, Sums> {
        let mut sums: BTreeMap<K, Sums> = BTreeMap::new();
        for (key, call) in calls {
            let work = self.groups.get(call.group).map(|group| group.work).unwrap_or_default();
            let of_call = Sums::new(work, call.n_launched, call.device_ns, self.peaks.as_ref());
            sums.entry(key).or_default().add(of_call);
        }
        sums
    }

    /// What calls come to that began to launch in ranges of the host, disjoint and in order.
    pub(super) fn within(&self, ranges: &[Interval]) -> Sums {
        let at = |t: u64| self.calls.partition_point(|call| call.at_ns < t);
        let calls = ranges.iter().flat_map(|range| {
            self.calls.get(at(range.start_ns)..at(range.end_ns)).unwrap_or_default()
        });
        self.sums_by(calls.map(|call| ((), call))).remove(&()).unwrap_or_default()
    }
}
