//! Where are the steps of a generation in a trace, and what shows them?

use std::collections::BTreeMap;

use serde::Serialize;

use super::attention_names::is_paged;
use super::device_timeline::{DeviceTimeline, DeviceWork, by_launch};
use super::part_names::{Part, host_parts};
use super::periods::most_weighty_period;
use super::trace_phases::TracePhase;
use crate::import::chrome::{Class, Trace};
use crate::intervals::{Interval, has_moment, union_length_ns};
use crate::stats::sum;

/// Ranges of the host that are steps, or calls of the denoiser, of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSteps {
    /// Which document of the file.
    pub document: u32,
    /// What shows them.
    pub rule: StepRule,
    /// What they are called in the trace: the name of a range, a graph, a module, the first kernel of a repetition.
    pub source: String,
    /// Disjoint, in order.
    pub ranges: Vec<Interval>,
}

impl TraceSteps {
    /// Each by itself, called by its number.
    pub(super) fn parts(&self) -> impl Iterator<Item = TracePhase> + '_ {
        let ranges = self.ranges.iter().enumerate();
        ranges.map(|(n, range)| TracePhase::once(self.document, n.to_string(), *range))
    }
}

/// What says where steps are; the first of these that finds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepRule {
    /// Ranges that the program named like a step.
    Annotations,
    /// Ranges that the program named like calls of the scheduler, which end steps.
    SchedulerAnnotations,
    /// Calls of a graph that torch compiled, always the same.
    CompiledGraph,
    /// Launches of recorded graphs with equally many kernels.
    GraphLaunches,
    /// Python functions of the scheduler, which end steps.
    Scheduler,
    /// Calls of the module that is the denoiser.
    Modules,
    /// Kernels that follow each other in the same order, three times or more.
    KernelPeriod,
}

impl StepRule {
    /// What was found are steps. Otherwise they are calls of the denoiser: guidance may call it twice a step, a cache not at all.
    pub fn finds_steps(self) -> bool {
        matches!(self, Self::Annotations | Self::SchedulerAnnotations | Self::Scheduler)
    }

    /// The program or its graphs say that it denoises. Kernels that repeat are no evidence of that: the layers of any model do.
    pub fn is_told(self) -> bool {
        self != Self::KernelPeriod
    }
}

/// The steps of every document, as far as anything tells them.
///
/// 1. Ranges named like steps: Marey's own, then those that repeat. 2. Ranges of the scheduler. 3. Compiled graphs, or launches of
///    equal graphs, unless a language model's attention is among the work. 4. The scheduler and the denoiser as Python functions. 5. Kernels that repeat.
///
/// Of several groups that one rule finds, the one that launched most time of devices stands: how often a name occurs is no
/// evidence. Ranges of torch's profiler are never steps. O(n), and O(m log m) for m operations of devices.
pub fn trace_steps(trace: &Trace, timelines: &[DeviceTimeline]) -> Vec<TraceSteps> {
    let mut documents = vec![Evidence::default(); trace.metadata.len().max(1)];
    for (row, class, part) in host_parts(trace).filter(|(_, _, part)| *part != Part::Other) {
        if let Some(evidence) = documents.get_mut(trace.document_of(row) as usize) {
            evidence.push((part, class == Class::PythonFunction, row));
        }
    }
    let found = (0_u32..).zip(documents).filter_map(|(document, evidence)| {
        let timelines = timelines.iter();
        let timelines: Vec<_> =
            timelines.filter(|of| trace.document_of_process(of.process) == document).collect();
        Search::new(trace, document, evidence, &timelines).run()
    });
    found.collect()
}

/// Rows of a document that may tell steps: what, whether in Python's stack, which.
type Evidence = Vec<(Part, bool, u32)>;

struct Search<'a> {
    trace: &'a Trace,
    document: u32,
    evidence: Evidence,
    /// When work was launched, and what, in order of that.
    launched: Vec<(u64, DeviceWork)>,
    /// The durations of all work before each, added up.
    before_ns: Vec<u64>,
    n_not_launched: usize,
}

impl<'a> Search<'a> {
    fn new(
        trace: &'a Trace,
        document: u32,
        evidence: Evidence,
        timelines: &[&DeviceTimeline],
    ) -> Self {
        let work = timelines.iter().flat_map(|timeline| &timeline.work);
        let (launched, not_launched) = by_launch(trace, work);
        let n_not_launched = not_launched.len();
        let mut sum = 0_u64;
        let mut before_ns = vec![0];
        for (_, work) in &launched {
            sum = sum.saturating_add(work.length_ns());
            before_ns.push(sum);
        }
        Self { trace, document, evidence, launched, before_ns, n_not_launched }
    }

    fn run(&self) -> Option<TraceSteps> {
        self.named_steps()
            .or_else(|| self.scheduled(StepRule::SchedulerAnnotations))
            .or_else(|| self.graphs())
            .or_else(|| self.scheduled(StepRule::Scheduler))
            .or_else(|| self.modules())
            .or_else(|| self.repeated_kernels())
    }

    /// Rows of these parts, and whether they are in Python's stack.
    fn rows(&self, wanted: &[Part]) -> impl Iterator<Item = (bool, u32)> {
        let rows = self.evidence.iter().filter(|(part, ..)| wanted.contains(part));
        rows.map(|(_, is_python, row)| (*is_python, *row))
    }

    /// Rows as ranges of which none is in another.
    fn outermost(&self, rows: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut rows: Vec<u32> = rows.into_iter().collect();
        let ends_last = |row: &u32| u64::MAX - self.trace.rows.end_ns(*row);
        rows.sort_by_key(|row| (self.trace.rows.start_of(*row), ends_last(row), *row));
        let mut until_ns = 0;
        rows.retain(|row| {
            let is_after = self.trace.rows.start_of(*row) >= until_ns;
            if is_after {
                until_ns = self.trace.rows.end_ns(*row);
            }
            is_after
        });
        rows
    }

    /// The outermost rows of these parts.
    fn outermost_of(&self, wanted: &[Part]) -> Vec<u32> {
        self.outermost(self.rows(wanted).map(|(_, row)| row))
    }

    fn time(&self, row: u32) -> Interval {
        self.trace.rows.time_of(row)
    }

    /// What may be the steps.
    fn candidate(&self, rule: StepRule, rows: &[u32]) -> Option<TraceSteps> {
        let source = without_number(self.trace.name_of(*rows.first()?));
        Some(self.steps(rule, source, rows.iter().map(|row| self.time(*row)).collect()))
    }

    fn steps(&self, rule: StepRule, source: &str, ranges: Vec<Interval>) -> TraceSteps {
        TraceSteps { document: self.document, rule, source: source.to_owned(), ranges }
    }

    /// Device time that was launched in ranges; on a host alone the time of the ranges.
    fn explained_ns(&self, ranges: &[Interval]) -> u64 {
        if self.launched.is_empty() && self.n_not_launched == 0 {
            return union_length_ns(ranges.to_vec());
        }
        sum(ranges.iter().map(|range| self.launched_ns(*range)))
    }

    /// Device time that was launched in a time of the host.
    fn launched_ns(&self, time: Interval) -> u64 {
        let before = |t: u64| {
            let at = self.launched.partition_point(|(at_ns, _)| *at_ns < t);
            self.before_ns.get(at).copied().unwrap_or_default()
        };
        before(time.end_ns).saturating_sub(before(time.start_ns))
    }

    /// The one that explains most, if it explains anything. Of those that explain nearly as much, the one with most ranges: a loop
    /// is around its steps.
    fn best(&self, candidates: Vec<TraceSteps>) -> Option<TraceSteps> {
        let explained: Vec<u64> =
            candidates.iter().map(|candidate| self.explained_ns(&candidate.ranges)).collect();
        let most_ns = explained.iter().copied().max().filter(|most| *most > 0)?;
        let near =
            candidates.into_iter().zip(explained).filter(|(_, ns)| *ns >= most_ns - most_ns / 5);
        let best = near.max_by_key(|(candidate, ns)| (candidate.ranges.len(), *ns));
        best.map(|(candidate, _)| candidate)
    }

    /// Ranges that are named like steps.
    fn named_steps(&self) -> Option<TraceSteps> {
        let own = self.outermost_of(&[Part::OwnStep]);
        if let Some(own) = self.candidate(StepRule::Annotations, &own) {
            return self.best(vec![own]);
        }
        let best = |part| self.best(self.candidates(StepRule::Annotations, &self.groups(part)));
        best(Part::Step).or_else(|| best(Part::Loop))
    }

    /// Groups of more than one row that may be the steps.
    fn candidates(&self, rule: StepRule, groups: &[Vec<u32>]) -> Vec<TraceSteps> {
        let groups = groups.iter().filter(|rows| rows.len() > 1);
        groups.filter_map(|rows| self.candidate(rule, rows)).collect()
    }

    /// The outermost rows of a part by name, numbers at the ends of names apart.
    fn groups(&self, wanted: Part) -> Vec<Vec<u32>> {
        let mut by_name: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (_, row) in self.rows(&[wanted]) {
            by_name.entry(without_number(self.trace.name_of(row))).or_default().push(row);
        }
        // Names may be as many as rows in a hostile file; steps have few.
        by_name.into_values().take(MOST_NAMES).map(|rows| self.outermost(rows)).collect()
    }

    /// Steps end where the scheduler does, and begin where the denoiser was called first after the step before.
    ///
    /// ```text
    /// denoiser     |--| |--|      |--| |--|              guidance calls it twice, a cache not at all
    /// scheduler              |-|            |-|    |-|
    /// steps        |-----------|  |-----------|    |-|
    /// ```
    fn scheduled(&self, rule: StepRule) -> Option<TraceSteps> {
        let is_python = rule == StepRule::Scheduler;
        let of = |wanted| {
            let wanted = [wanted];
            let rows = self.rows(&wanted).filter(|(in_python, _)| *in_python == is_python);
            self.outermost(rows.map(|(_, row)| row))
        };
        let (schedulers, denoisers) = (of(Part::Scheduler), of(Part::Denoiser));
        if schedulers.len() < 2 || denoisers.is_empty() {
            return None;
        }
        let mut denoisers = denoisers.iter().map(|row| self.time(*row)).peekable();
        let mut steps = Vec::new();
        for row in &schedulers {
            let mut step = self.time(*row);
            if let Some(first) = denoisers.next_if(|call| call.start_ns < step.start_ns) {
                step.start_ns = first.start_ns;
            }
            while denoisers.next_if(|call| call.start_ns < step.end_ns).is_some() {}
            steps.push(step);
        }
        let source = self.trace.name_of(*schedulers.first()?);
        self.best(vec![self.steps(rule, source, steps)])
    }

    /// Calls of one compiled graph, or launches of equal recorded ones: what takes most of the devices' time. When a module that is
    /// the denoiser is around several of them, they are pieces of it.
    fn graphs(&self) -> Option<TraceSteps> {
        // Those of a language model are not of a denoiser.
        if self.trace.names.iter().any(is_paged) {
            return None;
        }
        let other = self.outermost_of(&[Part::TextEncoder, Part::Vae]);
        let other: Vec<Interval> = other.iter().map(|row| self.time(*row)).collect();
        let is_within = |rows: &Vec<u32>| {
            rows.first().is_none_or(|row| has_moment(&other, self.time(*row).start_ns))
        };
        let compiled = self.groups(Part::CompiledGraph);
        let compiled = compiled.into_iter().map(|rows| (StepRule::CompiledGraph, rows));
        let launches = self.equal_launches();
        let launches = launches.into_iter().map(|rows| (StepRule::GraphLaunches, rows));
        let candidates =
            compiled.chain(launches).filter(|(_, rows)| rows.len() > 1 && !is_within(rows));
        let candidates = candidates.filter_map(|(rule, rows)| self.candidate(rule, &rows));
        // Several graphs of one denoiser explain less than the denoiser: no preference for many. What launched hardly anything of
        // the whole is none: programs record other things, too.
        let all_ns = self.before_ns.last().copied().unwrap_or_default();
        let other_ns = sum(other.iter().map(|time| self.launched_ns(*time)));
        let least_ns = all_ns.saturating_sub(other_ns) / 5;
        let best = candidates
            .map(|candidate| (self.explained_ns(&candidate.ranges), candidate))
            .filter(|(explained_ns, _)| *explained_ns > 0 && *explained_ns >= least_ns)
            .max_by_key(|(explained_ns, c)| (*explained_ns, std::cmp::Reverse(c.rule)))?
            .1;
        let whole = self.outermost_of(&[Part::Denoiser]);
        let n_pieces = |call: &Interval| {
            let after = |t| best.ranges.partition_point(|range| range.start_ns < t);
            after(call.end_ns) - after(call.start_ns)
        };
        let whole_times = whole.iter().map(|row| self.time(*row));
        let is_piece = whole.len() > 1 && whole_times.map(|call| n_pieces(&call)).all(|n| n > 1);
        (!is_piece).then_some(best)
    }

    /// Launches of recorded graphs, by how many operations they became.
    fn equal_launches(&self) -> Vec<Vec<u32>> {
        let mut by_size: Vec<(usize, u32)> = Vec::new();
        let by_call = self.launched.chunk_by(|a, b| a.1.launch == b.1.launch);
        for work in by_call {
            let Some(call) = work.first().and_then(|(_, work)| work.launch) else {
                continue;
            };
            if work.len() > 1 && self.trace.name_of(call).ends_with("GraphLaunch") {
                by_size.push((work.len(), call));
            }
        }
        by_size.sort_by_key(|(size, call)| (*size, self.trace.rows.start_of(*call)));
        let groups = by_size.chunk_by(|a, b| a.0 == b.0);
        groups.map(|group| group.iter().map(|(_, call)| *call).collect()).collect()
    }

    /// Calls of the outermost module that is a denoiser.
    fn modules(&self) -> Option<TraceSteps> {
        let candidates = self.candidates(StepRule::Modules, &self.groups(Part::Denoiser));
        let best = candidates
            .into_iter()
            .map(|candidate| (self.explained_ns(&candidate.ranges), candidate))
            .max_by_key(|(explained_ns, c)| (*explained_ns, std::cmp::Reverse(c.ranges.len())))?;
        (best.0 > 0).then_some(best.1)
    }

    /// Kernels in the order of their launches, if what repeats is at least half of all work.
    fn repeated_kernels(&self) -> Option<TraceSteps> {
        if self.n_not_launched > self.launched.len() {
            return None;
        }
        let names: Vec<u32> = self.launched.iter().map(|(_, work)| work.name).collect();
        let duration = |(_, work): &(u64, DeviceWork)| work.length_ns();
        let weights: Vec<u64> = self.launched.iter().map(duration).collect();
        let period = most_weighty_period(&names, &weights)?;
        if period.length < FEWEST_KERNELS {
            return None;
        }
        let first = |n: usize| self.launched.get(period.start + n * period.length);
        let last = self.launched.get(period.start + period.count * period.length - 1)?;
        let end_ns = self.trace.rows.end_ns(last.1.launch?);
        let range = |n: usize| {
            let (start_ns, _) = first(n)?;
            let next = first(n + 1).filter(|_| n + 1 < period.count);
            let end_ns = next.map_or(end_ns, |(at_ns, _)| *at_ns);
            Some(Interval { start_ns: *start_ns, end_ns })
        };
        let ranges: Vec<Interval> = (0..period.count).filter_map(range).collect();
        // Layers of one recorded graph have one launch: that is no range of the host.
        if ranges.iter().any(|range| range.length_ns() == 0) {
            return None;
        }
        let source = self.trace.names.get(first(0)?.1.name);
        let candidate = self.steps(StepRule::KernelPeriod, source, ranges);
        let all_ns = self.before_ns.last().copied().unwrap_or_default();
        (self.explained_ns(&candidate.ranges) >= all_ns / 2).then_some(candidate)
    }
}

/// Names of ranges that are looked at.
const MOST_NAMES: usize = 64;

/// Fewer kernels are no call of a denoiser.
const FEWEST_KERNELS: usize = 5;

/// `denoise_step_3` and `step #3` without their numbers.
fn without_number(name: &str) -> &str {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if end.len() == name.len() {
        return name;
    }
    let base = end.trim_end_matches(['_', '#', ' ', '-', '.', ':']);
    if base.is_empty() { name } else { base }
}
