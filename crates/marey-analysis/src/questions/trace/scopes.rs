//! The parts of a trace that can be asked about, and finding one by what it is called.

use serde::Serialize;

use super::part_names::{Part, host_parts};
use super::trace_phases::{PhaseRole, TracePhase, trace_phases};
use super::trace_steps::{TraceSteps, trace_steps};
use super::{DeviceTimeline, DeviceWork, device_timelines};
use crate::import::chrome::{Class, Trace};
use crate::intervals::{Interval, has_moment, union};

/// Ranges of the host: a step, a phase. Work of devices belongs to it when the call that launched it began in one of them.
///
/// ```text
/// host     |--step 1--||--step 2--|
///            ↓a  ↓b      ↓c  ↓d
/// device        |-a-||--b--||-c-||--d--|       step 1: a, b     step 2: c, d
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Scope {
    /// What it is called.
    pub name: String,
    /// Which document of the file it is in.
    pub document: u32,
    /// When it was open, disjoint and in order.
    pub ranges: Vec<Interval>,
}

impl Scope {
    /// A moment of the host lies in it.
    pub fn has(&self, at_ns: u64) -> bool {
        has_moment(&self.ranges, at_ns)
    }

    /// A row of the host began in it.
    pub fn has_row(&self, trace: &Trace, row: u32) -> bool {
        trace.document_of(row) == self.document && self.has(trace.rows.start_of(row))
    }

    /// The work was launched in it; false when the trace has no launch.
    pub(super) fn has_work(&self, trace: &Trace, work: &DeviceWork) -> bool {
        work.launch.is_some_and(|call| self.has_row(trace, call))
    }
}

/// Parts of a trace, found once.
#[derive(Clone, Debug)]
pub(crate) struct TraceParts {
    /// Its steps, by document.
    pub(super) steps: Vec<TraceSteps>,
    /// Steps that the program marked for torch's profiler, in order, each called by its own number.
    pub(super) profiler_steps: Vec<TracePhase>,
    /// Its named parts.
    pub(crate) phases: Vec<TracePhase>,
}

impl TraceParts {
    /// Of a trace, whose timelines are of all its work.
    pub(super) fn new(trace: &Trace, timelines: &[DeviceTimeline]) -> Self {
        let steps = trace_steps(trace, timelines);
        let profiler_steps = rows_where(trace, |_, part| part == Part::ProfilerStep);
        let profiler_steps = profiler_steps.into_iter().map(|row| {
            let number = number_of(trace.name_of(row));
            TracePhase::once(trace.document_of(row), number, trace.rows.time_of(row))
        });
        let profiler_steps = profiler_steps.collect();
        Self { phases: trace_phases(trace, &steps), profiler_steps, steps }
    }

    /// All of them as scopes: `step 0`, `profiler step 3`, `phase vae_decode`. Steps count from 0 in each document, also those that
    /// are calls of the denoiser; profiler steps have the program's own number.
    fn scopes(&self) -> Vec<Scope> {
        let scope = |kind: &str, part: TracePhase| Scope {
            name: format!("{kind} {}", part.name),
            document: part.document,
            ranges: union(part.ranges),
        };
        let steps = self.steps.iter().flat_map(TraceSteps::parts).map(|part| scope("step", part));
        let profiler = self.profiler_steps.iter().map(|part| scope("profiler step", part.clone()));
        let phases = self.phases.iter().map(|part| scope("phase", part.clone()));
        steps.chain(profiler).chain(phases).collect()
    }
}

/// What follows the `#`; all of it when there is none.
fn number_of(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(_, number)| number)
}

/// The part that is called so: `step 3`, `profiler step 2`, `phase vae_decode`, in letters of any size. A phase is also found by
/// what it does: `phase vae`, `phase text encoder`, `phase denoising`. Of several documents, the first that has it.
///
/// What there is otherwise: the names of all parts.
pub fn find_scope(trace: &Trace, wanted: &str) -> Result<Scope, Vec<String>> {
    let parts = TraceParts::new(trace, &device_timelines(trace));
    let mut scopes = parts.scopes();
    let plain = plain(wanted);
    let place = scopes.iter().position(|scope| scope.name == wanted);
    let place = place.or_else(|| scopes.iter().position(|s| self::plain(&s.name) == plain));
    if let Some(place) = place {
        return Ok(scopes.swap_remove(place));
    }
    if let Some(scope) = of_role(&parts.phases, &plain) {
        return Ok(scope);
    }
    let mut names: Vec<String> = scopes.into_iter().map(|scope| scope.name).collect();
    let mut known = std::collections::BTreeSet::new();
    names.retain(|name| known.insert(name.clone()));
    Err(names)
}

/// All phases of the first document that has one with this role.
fn of_role(phases: &[TracePhase], wanted: &str) -> Option<Scope> {
    let role = match wanted.strip_prefix("phase ")? {
        "vae" => PhaseRole::Vae,
        "text encoder" | "text" => PhaseRole::TextEncoder,
        "denoising" | "denoise" => PhaseRole::Denoising,
        _ => return None,
    };
    let of_role = || phases.iter().filter(|phase| phase.role == Some(role));
    let document = of_role().next()?.document;
    let ranges = of_role().filter(|phase| phase.document == document);
    Some(Scope {
        name: wanted.to_owned(),
        document,
        ranges: union(ranges.flat_map(|phase| phase.ranges.clone()).collect()),
    })
}

/// In small letters, with one space for whatever is between words.
fn plain(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || c == '_' || c == '-');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The rows of ranges that the program named (`record_function`), but steps of the profiler, in order of their beginnings.
pub(super) fn annotations(trace: &Trace) -> Vec<u32> {
    rows_where(trace, |class, part| class == Class::Annotation && part != Part::ProfilerStep)
}

fn rows_where(trace: &Trace, is_wanted: impl Fn(Class, Part) -> bool) -> Vec<u32> {
    let wanted = host_parts(trace).filter(|(_, class, part)| is_wanted(*class, *part));
    let mut found: Vec<u32> = wanted.map(|(row, _, _)| row).collect();
    found.sort_by_key(|row| (trace.rows.start_of(*row), trace.rows.end_ns(*row)));
    found
}
