//! Steps, phases, attention and idle time of a trace, as figures to compare.
//!
//! ```text
//! host      |- text encoder -|- step 0 -|- step 1 -|- step 2 -|
//!              ↓                ↓          ↓          ↓           work belongs to what launched it
//! device       |--|              |-----|    |---|      |---|
//!                                warm-up    └── the median of these
//! ```

use std::collections::BTreeMap;

use super::traced::{Found, word};
use super::{MeasureKind, Subject};
use crate::intervals::{Interval, has_moment, length_ns, union};
use crate::questions::trace::{
    DeviceTimeline, GapCause, PartList, PhaseRole, TracePart, attention, covered, idle_gaps,
    part_lists,
};
use crate::stats::float;

/// So many steps of the profiler there have to be for the first one to be taken apart.
const APART: usize = 3;

impl Found<'_> {
    /// Adds what a trace says of its parts; one that it does not tell is left out. O(n log n).
    pub(super) fn add_parts(&mut self) {
        let lists = part_lists(self.context);
        lists.profiler_steps.iter().for_each(|list| self.add_profiler_steps(list));
        lists.steps.iter().for_each(|list| self.add_steps(list));
        self.add_phases();
        self.add_attention();
        self.add_idle();
    }

    /// Time that the work covers which steps of the profiler launched.
    fn add_profiler_steps(&mut self, list: &PartList) {
        let mut busy = busy(list, |_| true);
        if busy.len() >= APART {
            busy.remove(0);
        } else if busy.len() < 2 {
            return;
        }
        self.add_median(MeasureKind::DeviceStep, self.device(list.device.as_ref()), busy);
    }

    /// Steps without a warm-up; the number is of all.
    fn add_steps(&mut self, list: &PartList) {
        let of = self.device(list.device.as_ref());
        let kept = list.parts.iter().filter(|part| !part.is_warm_up);
        let host: Vec<f64> = kept.map(|part| float(part.host_ns)).collect();
        let busy = busy(list, |part| !part.is_warm_up);
        // A device that does nothing for steps has none.
        let is_used = busy.iter().any(|ns| *ns > 0.0);
        if list.device.is_some() && !is_used {
            return;
        }
        self.add_median(MeasureKind::StepBusy, of.clone(), busy);
        self.add_median(MeasureKind::StepHost, of.clone(), host);
        let n = float(list.parts.len() as u64);
        self.observations.add(MeasureKind::TracedSteps, of, Some(n));
    }

    /// All phases with the same role together: each moment of the host counts once, and so does each of a device.
    fn add_phases(&mut self) {
        let context = self.context;
        let mut ranges: BTreeMap<(PhaseRole, u32), Vec<Interval>> = BTreeMap::new();
        for phase in &context.parts().phases {
            if let Some(role) = phase.role {
                let all = ranges.entry((role, phase.document)).or_default();
                all.extend(&phase.ranges);
            }
        }
        let mut sums: BTreeMap<PhaseRole, (f64, f64)> = BTreeMap::new();
        for ((role, document), ranges) in ranges {
            let ranges = union(ranges);
            let sum = sums.entry(role).or_default();
            sum.0 += float(length_ns(&ranges));
            for timeline in context.timelines_of(document) {
                sum.1 += float(self.launched_ns(timeline, &ranges));
            }
        }
        for (role, (host_ns, busy_ns)) in sums {
            let of = || Subject::Phase(word(&role));
            self.add(MeasureKind::PhaseHost, of(), host_ns, Vec::new());
            if busy_ns > 0.0 {
                self.add(MeasureKind::PhaseBusy, of(), busy_ns, Vec::new());
            }
        }
    }

    /// Time with work that was launched in ranges, which are disjoint and in order.
    fn launched_ns(&self, timeline: &DeviceTimeline, ranges: &[Interval]) -> u64 {
        let rows = &self.context.trace.rows;
        let is_in = |call| has_moment(ranges, rows.start_of(call));
        length_ns(&covered(&timeline.work, |work| work.launch.is_some_and(is_in)))
    }

    fn add_attention(&mut self) {
        let mut paths: BTreeMap<String, f64> = BTreeMap::new();
        for timeline in &self.context.timelines {
            for used in attention(self.context.trace, timeline) {
                let all_ns = used.total_ns.saturating_add(used.preparing_ns);
                *paths.entry(word(&used.path)).or_default() += float(all_ns);
            }
        }
        for (path, total_ns) in paths {
            let of = Subject::Attention(path);
            self.add(MeasureKind::AttentionTime, of, total_ns, Vec::new());
        }
    }

    fn add_idle(&mut self) {
        let mut causes: BTreeMap<&str, f64> = BTreeMap::new();
        for timeline in &self.context.timelines {
            let gaps = idle_gaps(self.context, timeline);
            for cause in gaps.causes {
                let name = match cause.cause {
                    GapCause::LaunchLate => "the host was late",
                    GapCause::LaunchedBefore => "launched before",
                    GapCause::NotKnown => "not known",
                };
                *causes.entry(name).or_default() += float(cause.total_ns);
            }
        }
        for (cause, total_ns) in causes {
            let of = Subject::IdleCause(cause.to_owned());
            self.add(MeasureKind::IdleOfCause, of, total_ns, Vec::new());
        }
    }
}

/// How long the device was busy for each part that is meant.
fn busy(list: &PartList, is_meant: impl Fn(&TracePart) -> bool) -> Vec<f64> {
    let parts = list.parts.iter().filter(|part| is_meant(part));
    parts.filter_map(|part| Some(float(part.work.as_ref()?.busy_ns))).collect()
}
