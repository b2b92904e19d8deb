//! Steps, phases, attention and idle time of a trace, as figures to compare.
//!
//! ```text
//! host      |- text encoder -|- step 0 -|- step 1 -|- step 2 -|
//!              ↓                ↓          ↓          ↓           work belongs to what launched it
//! device       |--|              |-----|    |---|      |---|
//!                                warm-up    └── the median of these
//! ```

use std::collections::BTreeMap;

use serde::Serialize;

use super::bootstrap::Statistic;
use super::observations::{Observations, Value};
use super::{MeasureKind, Subject};
use crate::intervals::{Interval, length_ns, union};
use crate::questions::trace::{
    DeviceTimeline, DeviceWork, GapCause, PhaseRole, TraceContext, TraceParts, attention,
    idle_gaps, part_lists,
};
use crate::stats::float;

/// Adds what a trace says of them; a part that it does not tell is left out. O(n log n).
pub(super) fn observe(context: &TraceContext<'_>, found: &mut Observations) {
    let spans = context.timelines.iter().map(|one| one.span().length_ns());
    let span_ns = float(spans.sum::<u64>()).max(1.0);
    let mut asked = Asked { context, found, span_ns };
    asked.add_steps();
    asked.add_phases();
    asked.add_attention();
    asked.add_idle();
}

struct Asked<'a, 'b> {
    context: &'a TraceContext<'a>,
    found: &'b mut Observations,
    /// Spans of all devices together.
    span_ns: f64,
}

impl Asked<'_, '_> {
    fn add(&mut self, kind: MeasureKind, of: Subject, figure: f64, calls: Vec<f64>) {
        let all: f64 = if calls.is_empty() { figure } else { calls.iter().sum() };
        let value = Value { figure, calls, share: (all / self.span_ns).min(1.0) };
        self.found.add_value(kind, of, value);
    }

    /// Steps without a warm-up; the number is of all.
    fn add_steps(&mut self) {
        let is_single = self.context.timelines.len() <= 1;
        for list in part_lists(self.context).steps {
            let of = match &list.device {
                Some(device) if !is_single => Subject::Gpu(device.clone()),
                _ => Subject::Run,
            };
            let n = float(list.parts.len() as u64);
            let kept = list.parts.iter().filter(|part| !part.is_warm_up);
            let host: Vec<f64> = kept.clone().map(|part| float(part.host_ns)).collect();
            let busy = kept.filter_map(|part| part.work.as_ref());
            let busy: Vec<f64> = busy.map(|work| float(work.busy_ns)).collect();
            // A device that does nothing for steps has none.
            let is_used = busy.iter().any(|ns| *ns > 0.0);
            if list.device.is_some() && !is_used {
                continue;
            }
            for (kind, calls) in [(MeasureKind::StepBusy, busy), (MeasureKind::StepHost, host)] {
                if let Some(figure) = Statistic::Median.of(&mut calls.clone()) {
                    self.add(kind, of.clone(), figure, calls);
                }
            }
            self.found.add(MeasureKind::TracedSteps, of, Some(n));
        }
    }

    /// All phases with the same role together: each moment of the host counts once, and so does each of a device.
    fn add_phases(&mut self) {
        let trace = self.context.trace;
        let parts = TraceParts::new(trace, &self.context.timelines);
        let mut ranges: BTreeMap<(PhaseRole, u32), Vec<Interval>> = BTreeMap::new();
        for phase in &parts.phases {
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
            for timeline in &self.context.timelines {
                let process = trace.tracks.processes.get(timeline.process as usize);
                if process.is_some_and(|process| process.document == document) {
                    sum.1 += float(self.launched_ns(timeline, &ranges));
                }
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
        let is_in = |at_ns: u64| {
            let n = ranges.partition_point(|range| range.start_ns <= at_ns);
            let last = n.checked_sub(1).and_then(|n| ranges.get(n));
            last.is_some_and(|range| at_ns < range.end_ns)
        };
        let rows = &self.context.trace.rows;
        let launched = timeline
            .work
            .iter()
            .filter(|work| work.launch.is_some_and(|call| is_in(rows.start_of(call))));
        length_ns(&union(launched.map(DeviceWork::interval).collect()))
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

/// A value of an enumeration in words.
fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    let word = value.as_ref().and_then(|value| value.as_str());
    word.unwrap_or_default().replace('_', " ")
}
