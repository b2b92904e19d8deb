//! What the host did while a device waited for a launch.
//!
//! ```text
//! host     [launch a]  |-- DataLoader --| [launch b]  |-op-|-op-| [launch c]
//! device          |--a--|╌╌╌╌╌╌ data ╌╌╌╌╌╌|      |--b--|╌ launching ╌|      |--c--|
//! ```

use crate::intervals::Interval;
use crate::{DeviceAnswers, GapCause, GapReason, HostOperation};

/// What of a device's gaps is before late launches, for some reasons.
pub(super) struct LateGaps<'a> {
    device: &'a DeviceAnswers,
    reasons: &'static [GapReason],
}

impl<'a> LateGaps<'a> {
    pub(super) fn new(device: &'a DeviceAnswers, reasons: &'static [GapReason]) -> Self {
        Self { device, reasons }
    }

    /// Their time; `None` when there are gaps and the launch of what came next is known of none.
    pub(super) fn total_ns(&self) -> Option<u64> {
        let gaps = &self.device.idle_gaps;
        let mut causes = gaps.causes.iter();
        let not_known = causes.find(|time| time.cause == GapCause::NotKnown);
        let not_known_ns = not_known.map_or(0, |time| time.total_ns);
        let is_known = not_known_ns < gaps.total_ns.max(1);
        is_known.then(|| {
            let of_each = self.reasons.iter().map(|reason| gaps.total_of(*reason));
            of_each.fold(0, u64::saturating_add)
        })
    }

    /// What the host did in most of them, that has a name; `None` when nothing has, or less than half of their time has this one.
    pub(super) fn operation(&self) -> Option<&'a HostOperation> {
        let mut operations = self.device.idle_gaps.host_operations.iter();
        let most = operations.find(|one| self.reasons.contains(&one.reason))?;
        let half_ns = self.total_ns().unwrap_or_default() / 2;
        (most.name.is_some() && most.total_ns >= half_ns).then_some(most)
    }

    /// The reason is one of these.
    pub(super) fn has(&self, reason: GapReason) -> bool {
        self.reasons.contains(&reason)
    }

    /// What was before the launch, of those among the longest of all gaps of which it is more than the rest.
    pub(super) fn longest(&self) -> impl Iterator<Item = Interval> {
        let gaps = self.device.idle_gaps.longest.iter();
        let late = gaps.filter(|gap| self.reasons.contains(&gap.reason));
        late.filter_map(|gap| {
            Some(Interval {
                start_ns: gap.start_ns,
                end_ns: gap.start_ns.saturating_add(gap.late_ns?),
            })
        })
    }
}
