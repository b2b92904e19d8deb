//! What did a device do for each step, profiler step and phase of a trace?

use super::context::TraceContext;
use super::device_timeline::{DeviceTimeline, DeviceWork, by_launch};
use super::part_list::{
    PartFigures, PartList, PartWork, RestOfWork, RestPlace, TracePart, TracePartLists, groups,
    mark_kinds, mark_warm_up,
};
use super::trace_phases::TracePhase;
use super::trace_steps::StepRule;
use super::utilization::overlap;
use crate::import::chrome::Trace;
use crate::intervals::{Interval, length_ns, union};
use crate::stats::sum;

/// What each part launched. Of a scope, the parts that began in it.
///
/// ```text
/// host     |-- step 0 --| ↓x |-- step 1 --|      x: between
///            ↓a ↓b             ↓c
/// device         |-a-||-b-|  |x|  |--c--|
///                                ╰╯ opening gap of step 1
/// ```
pub fn part_lists(context: &TraceContext<'_>) -> TracePartLists {
    let (trace, parts) = (context.trace, context.parts());
    let mut lists = TracePartLists::default();
    for steps in &parts.steps {
        let told = Some((steps.rule, steps.source.clone()));
        let named = steps.parts().collect();
        lists.steps.extend(of_document(context, steps.document, told.as_ref(), named));
    }
    let documents = u32::try_from(trace.metadata.len().max(1)).unwrap_or(u32::MAX);
    for document in 0..documents {
        let of = |parts: &[TracePhase]| {
            let parts = parts.iter().filter(|part| part.document == document).cloned();
            of_document(context, document, None, parts.collect())
        };
        lists.profiler_steps.extend(of(&parts.profiler_steps));
        let mut of_phases = of(&parts.phases);
        for list in &mut of_phases {
            list.figures = None;
            list.parts.iter_mut().for_each(|part| part.is_warm_up = false);
        }
        lists.phases.extend(of_phases);
    }
    lists
}

/// A list for each device of a document, or one without a device.
fn of_document(
    context: &TraceContext<'_>,
    document: u32,
    told: Option<&(StepRule, String)>,
    mut named: Vec<TracePhase>,
) -> Vec<PartList> {
    if let Some(scope) = &context.scope {
        named.retain(|part| {
            let start_ns = part.ranges.first().map(|range| range.start_ns);
            scope.document == document && start_ns.is_some_and(|at_ns| scope.has(at_ns))
        });
    }
    if named.is_empty() {
        return Vec::new();
    }
    let trace = context.trace;
    let timelines: Vec<_> = context.timelines_of(document).collect();
    let list = |timeline: Option<&DeviceTimeline>| {
        let launched = timeline.map(|timeline| ByLaunch::new(trace, timeline, &named));
        let calls = timeline.and_then(|of| context.all_modelled_calls().get(&of.process));
        let parts = named.iter().enumerate().map(|(n, part)| {
            let work = launched.as_ref().map(|launched| launched.within(n, &part.ranges));
            let modelled = |work: PartWork| {
                Some(calls?.within(&part.ranges).of_part(work.work_ns, work.span_ns))
            };
            TracePart {
                name: part.name.clone(),
                start_ns: part.ranges.first().map_or(0, |range| range.start_ns),
                host_ns: length_ns(&part.ranges),
                count: part.count,
                synchronising_ns: context.waits.within(document, &part.ranges),
                modelled: work.and_then(modelled),
                work,
                is_warm_up: false,
                kind: None,
            }
        });
        let mut list = PartList {
            document,
            device: timeline.map(|timeline| trace.process_label(timeline.process)),
            rule: told.map(|told| told.0),
            source: told.map(|told| told.1.clone()),
            parts: parts.collect(),
            rest: launched.map_or_else(Vec::new, |launched| launched.rest(&named)),
            figures: None,
            groups: Vec::new(),
        };
        let are_steps = told.is_some_and(|told| told.0 != StepRule::KernelPeriod);
        if are_steps {
            mark_kinds(&mut list.parts);
        }
        mark_warm_up(&mut list.parts);
        list.figures = PartFigures::of(list.parts.iter());
        list.groups = groups(&list.parts);
        list
    };
    if timelines.is_empty() {
        return vec![list(None)];
    }
    timelines.into_iter().map(|timeline| list(Some(timeline))).collect()
}

/// The work of a device by the time at which it was launched. Devices run behind: what they did while a range of the host was open
/// belongs to ranges before it.
///
/// ```text
/// host     |--step 1--||--step 2--|
///            ↓a  ↓b      ↓c  ↓d
/// device        |-a-||--b--||-c-||--d--|       step 1: a, b     step 2: c, d
/// ```
struct ByLaunch<'a> {
    timeline: &'a DeviceTimeline,
    /// When it was launched, and what.
    work: Vec<(u64, DeviceWork)>,
    without_call: Vec<DeviceWork>,
    /// Of each of `work` the innermost part.
    owner: Vec<Option<usize>>,
}

impl<'a> ByLaunch<'a> {
    /// Sorts the work once for many ranges.
    fn new(trace: &Trace, timeline: &'a DeviceTimeline, parts: &[TracePhase]) -> Self {
        let (work, without_call) = by_launch(trace, timeline.work.iter());
        let owner = owners(&work, parts);
        Self { timeline, work, without_call, owner }
    }

    /// What was launched in the ranges of a part.
    fn within(&self, part: usize, ranges: &[Interval]) -> PartWork {
        let mut found = PartWork::default();
        let mut all = Vec::new();
        let mut spans = Vec::new();
        for range in ranges {
            let at = |t: u64| self.work.partition_point(|(at_ns, _)| *at_ns < t);
            let (from, to) = (at(range.start_ns), at(range.end_ns));
            let work = self.work.get(from..to).unwrap_or_default();
            let owners = self.owner.get(from..to).unwrap_or_default();
            for ((_, work), owner) in work.iter().zip(owners) {
                let length_ns = work.length_ns();
                found.n_ops += 1;
                found.work_ns = found.work_ns.saturating_add(length_ns);
                if *owner == Some(part) {
                    found.own_n_ops += 1;
                    found.own_work_ns = found.own_work_ns.saturating_add(length_ns);
                }
            }
            spans.extend(self.open(work, &mut found));
            all.extend(work.iter().map(|(_, work)| *work));
        }
        cover(all, &mut found);
        // Work of two ranges may overlap on the device: each moment counts once.
        found.span_ns = length_ns(&union(spans));
        found.idle_ns = found.span_ns.saturating_sub(found.busy_ns);
        found
    }

    /// The span of a range's work; for the first of a part how it opens.
    fn open(&self, work: &[(u64, DeviceWork)], found: &mut PartWork) -> Option<Interval> {
        let (at_ns, first) = work.iter().min_by_key(|(_, work)| work.start_ns)?;
        let end_ns = work.iter().map(|(_, work)| work.end_ns).max();
        let span = Interval { start_ns: first.start_ns, end_ns: end_ns.unwrap_or_default() };
        if found.device_start_ns.is_some() {
            return Some(span);
        }
        found.device_start_ns = Some(first.start_ns);
        found.delay_ns = first.start_ns.checked_sub(*at_ns);
        let busy = &self.timeline.busy;
        let after = busy.partition_point(|time| time.start_ns < first.start_ns);
        let before = after.checked_sub(1).and_then(|before| busy.get(before));
        found.opening_gap_ns = before.map(|time| first.start_ns.saturating_sub(time.end_ns));
        Some(span)
    }

    /// What no part launched.
    fn rest(&self, parts: &[TracePhase]) -> Vec<RestOfWork> {
        let ranges = || parts.iter().flat_map(|part| &part.ranges);
        let first_ns = ranges().map(|range| range.start_ns).min().unwrap_or_default();
        let last_ns = ranges().map(|range| range.end_ns).max().unwrap_or_default();
        let place = |at_ns: u64| match at_ns {
            at_ns if at_ns < first_ns => RestPlace::Before,
            at_ns if at_ns >= last_ns => RestPlace::After,
            _ => RestPlace::Between,
        };
        let launched = self.work.iter().zip(&self.owner);
        let mut rest: Vec<(RestPlace, DeviceWork)> = launched
            .filter(|(_, owner)| owner.is_none())
            .map(|((at_ns, work), _)| (place(*at_ns), *work))
            .collect();
        let without_call = self.without_call.iter();
        rest.extend(without_call.map(|work| (RestPlace::NotLaunched, *work)));
        rest.sort_by_key(|(place, _)| *place);
        let of_place = |work: &[(RestPlace, DeviceWork)]| {
            let times = || work.iter().map(|(_, work)| work.interval());
            Some(RestOfWork {
                place: work.first()?.0,
                n_ops: work.len() as u64,
                work_ns: sum(times().map(|time| time.length_ns())),
                busy_ns: length_ns(&union(times().collect())),
            })
        };
        rest.chunk_by(|a, b| a.0 == b.0).filter_map(of_place).collect()
    }
}

/// The part of each piece of work that began last before its launch and is still open.
fn owners(work: &[(u64, DeviceWork)], parts: &[TracePhase]) -> Vec<Option<usize>> {
    let ranges = parts.iter().enumerate();
    let mut ranges: Vec<(Interval, usize)> =
        ranges.flat_map(|(n, part)| part.ranges.iter().map(move |range| (*range, n))).collect();
    ranges.sort_by_key(|(range, n)| (range.start_ns, u64::MAX - range.end_ns, *n));
    let mut next = ranges.iter().peekable();
    let mut open: Vec<(Interval, usize)> = Vec::new();
    let owner = work.iter().map(|(at_ns, _)| {
        while let Some(range) = next.next_if(|(range, _)| range.start_ns <= *at_ns) {
            open.retain(|(above, _)| above.end_ns > range.0.start_ns);
            open.push(*range);
        }
        open.retain(|(range, _)| range.end_ns > *at_ns);
        open.last().map(|(_, part)| *part)
    });
    owner.collect()
}

/// Times that a part's work covers.
fn cover(work: Vec<DeviceWork>, found: &mut PartWork) {
    let part = DeviceTimeline::new(0, Vec::new(), work);
    let overlap = overlap(&part);
    found.busy_ns = length_ns(&part.busy);
    found.compute_ns = length_ns(&part.compute);
    found.communication_ns = overlap.communication_ns;
    found.memory_ns = overlap.memory_ns;
    found.exposed_communication_ns = overlap.exposed_communication_ns;
    found.exposed_memory_ns = overlap.exposed_memory_ns;
}
