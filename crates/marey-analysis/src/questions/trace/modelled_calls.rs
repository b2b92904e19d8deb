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
    /// What all calls come to, by whatever those with equal inputs have in common; those without that are in no sum.
    pub(super) fn sums_by<K: Ord>(&self, key: impl Fn(&Group) -> Option<K>) -> BTreeMap<K, Sums> {
        let mut sums: BTreeMap<K, Sums> = BTreeMap::new();
        for call in &self.calls {
            if let Some(key) = self.groups.get(call.group).and_then(&key) {
                sums.entry(key).or_default().add(self.sums_of(call));
            }
        }
        sums
    }

    /// Of one call.
    pub(super) fn sums_of(&self, call: &ModelledCall) -> Sums {
        let work = self.groups.get(call.group).map(|group| group.work).unwrap_or_default();
        Sums::new(work, call.n_launched, call.device_ns, self.peaks.as_ref())
    }

    /// What calls come to that began to launch in ranges of the host, disjoint and in order.
    pub(super) fn within(&self, ranges: &[Interval]) -> Sums {
        let at = |t: u64| self.calls.partition_point(|call| call.at_ns < t);
        let mut sums = Sums::default();
        for range in ranges {
            let calls = self.calls.get(at(range.start_ns)..at(range.end_ns)).unwrap_or_default();
            for call in calls {
                sums.add(self.sums_of(call));
            }
        }
        sums
    }
}
