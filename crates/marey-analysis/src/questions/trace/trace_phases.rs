//! Which parts of a program does a trace name, besides its steps?

use std::collections::BTreeMap;

use serde::Serialize;

use super::part_names::{Part, host_parts};
use super::trace_steps::TraceSteps;
use crate::import::chrome::{Class, Trace};
use crate::intervals::{Interval, union};

/// All time of one name: a phase, or what else may be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracePhase {
    /// Which document of the file.
    pub document: u32,
    /// The name that the trace has, or `denoising` for the loop of all steps, with what is between them.
    pub name: String,
    /// What it does in a generation; `None` when its name does not say.
    pub role: Option<PhaseRole>,
    /// How often it was entered.
    pub count: u64,
    /// When it was open, disjoint and in order.
    pub ranges: Vec<Interval>,
}

impl TracePhase {
    /// Of the times at which it was entered.
    pub(super) fn of(document: u32, name: impl Into<String>, times: Vec<Interval>) -> Self {
        let count = times.len() as u64;
        Self { document, name: name.into(), role: None, count, ranges: union(times) }
    }

    /// Of one time, however short.
    pub(super) fn once(document: u32, name: impl Into<String>, time: Interval) -> Self {
        Self { document, name: name.into(), role: None, count: 1, ranges: vec![time] }
    }
}

/// What a part of a generation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhaseRole {
    /// Prompts to embeddings.
    TextEncoder,
    /// Noise to latents.
    Denoising,
    /// Pictures to latents, or back.
    Vae,
}

/// Names that are told apart; a program has few.
const MOST_PHASES: usize = 500;

/// Ranges that the program named, by name; modules and functions of Python where no range has their role; and the steps together.
/// Steps and those of torch's profiler are lists of their own. One may lie in another.
pub fn trace_phases(trace: &Trace, steps: &[TraceSteps]) -> Vec<TracePhase> {
    let mut phases = named(trace);
    // The loop of a document as one phase, unless a range has that role.
    for steps in steps.iter().filter(|steps| steps.rule.is_told()) {
        let mut here = phases.iter().filter(|phase| phase.document == steps.document);
        if !here.any(|phase| phase.role == Some(PhaseRole::Denoising)) {
            let phase = TracePhase::of(steps.document, "denoising", loops(&phases, steps));
            phases.push(TracePhase { role: Some(PhaseRole::Denoising), ..phase });
        }
    }
    phases.retain(|phase| !phase.ranges.is_empty());
    // The one with most time of the host first, when there are too many.
    if phases.len() > MOST_PHASES {
        phases.sort_by_key(|phase| std::cmp::Reverse(crate::intervals::length_ns(&phase.ranges)));
        phases.truncate(MOST_PHASES);
    }
    phases.sort_by(|a, b| {
        let start = |phase: &TracePhase| phase.ranges.first().map_or(0, |range| range.start_ns);
        (a.document, start(a), &a.name).cmp(&(b.document, start(b), &b.name))
    });
    phases
}

/// Those that have a name.
fn named(trace: &Trace) -> Vec<TracePhase> {
    // Document, name, whether it is Python's, and what it is: the times.
    let mut times: BTreeMap<(u32, u32, bool), (Part, Vec<Interval>)> = BTreeMap::new();
    for (row, class, part) in host_parts(trace) {
        let is_phase = match part {
            Part::TextEncoder | Part::Vae => true,
            Part::ProfilerStep | Part::Step | Part::OwnStep | Part::GraphLaunch => false,
            _ => class == Class::Annotation,
        };
        let (true, Some(name)) = (is_phase, trace.rows.name_of(row)) else {
            continue;
        };
        let key = (trace.document_of(row), name, class == Class::PythonFunction);
        let place = times.entry(key).or_insert((part, Vec::new()));
        place.1.push(trace.rows.time_of(row));
    }
    let ranges = times.iter().filter(|(key, _)| !key.2);
    let ranges: Vec<_> = ranges.map(|(key, (part, _))| (key.0, *part)).collect();
    let is_meant = |(document, _, is_python): &(u32, u32, bool), part| {
        !is_python || !ranges.contains(&(*document, part))
    };
    let times = times.into_iter().filter(|(key, (part, _))| is_meant(key, *part));
    let phase = |((document, name, _), (part, times))| TracePhase {
        role: match part {
            Part::TextEncoder => Some(PhaseRole::TextEncoder),
            Part::Vae => Some(PhaseRole::Vae),
            Part::Loop => Some(PhaseRole::Denoising),
            _ => None,
        },
        ..TracePhase::of(document, trace.names.get(name), times)
    };
    times.map(phase).filter(|phase| !phase.ranges.is_empty()).collect()
}

/// From the beginning of the first step to the end of the last, with what was between them. Where a text encoder or a VAE
/// worked between two steps a loop ends, and another begins: these are no denoising.
///
/// ```text
/// host     |step 0|  |step 1|    |vae_decode|    |step 2| |step 3|
/// loops    |-----------------|                    |-----------------|
/// ```
fn loops(phases: &[TracePhase], steps: &TraceSteps) -> Vec<Interval> {
    let others = phases.iter().filter(|phase| {
        let is_other = matches!(phase.role, Some(PhaseRole::TextEncoder | PhaseRole::Vae));
        phase.document == steps.document && is_other
    });
    let others = union(others.flat_map(|phase| phase.ranges.clone()).collect());
    let lies_in = |start_ns: u64, end_ns: u64| {
        let at = others.partition_point(|range| range.start_ns < start_ns);
        others.get(at).is_some_and(|range| range.end_ns <= end_ns)
    };
    let mut loops: Vec<Interval> = Vec::new();
    for time in steps.ranges.iter().copied() {
        match loops.last_mut() {
            Some(last) if !lies_in(last.end_ns, time.start_ns) => {
                last.end_ns = last.end_ns.max(time.end_ns);
            }
            _ => loops.push(time),
        }
    }
    loops
}
