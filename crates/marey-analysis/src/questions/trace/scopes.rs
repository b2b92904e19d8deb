//! The parts of a trace that can be asked about, and finding one by what it is called.

use super::launched_work::profiler_steps;
use super::trace_phases::{PhaseRole, TracePhase, trace_phases};
use super::trace_steps::{TraceSteps, trace_steps};
use super::{DeviceTimeline, Scope, device_timelines};
use crate::import::chrome::Trace;
use crate::intervals::{Interval, union};

/// Parts of a trace, found once.
#[derive(Clone, Debug)]
pub struct TraceParts {
    /// Its steps, by document.
    pub steps: Vec<TraceSteps>,
    /// The rows of what the program told torch's profiler, in order.
    pub profiler_steps: Vec<u32>,
    /// Its named parts.
    pub phases: Vec<TracePhase>,
}

impl TraceParts {
    /// Of a trace, whose timelines are of all its work.
    pub fn new(trace: &Trace, timelines: &[DeviceTimeline]) -> Self {
        let steps = trace_steps(trace, timelines);
        Self { phases: trace_phases(trace, &steps), profiler_steps: profiler_steps(trace), steps }
    }

    /// All of them as scopes: `step 0`, `profiler step 3`, `phase vae_decode`. Steps count from 0 in each document, also those that
    /// are calls of the denoiser; profiler steps have the program's own number.
    fn scopes(&self, trace: &Trace) -> Vec<Scope> {
        let scope =
            |name: String, document, ranges| Scope { name, document, ranges: union(ranges) };
        let steps = self.steps.iter().flat_map(|steps| {
            let ranges = steps.ranges.iter().enumerate();
            ranges.map(|(n, range)| scope(format!("step {n}"), steps.document, vec![range.time]))
        });
        let profiler = self.profiler_steps.iter().map(|row| {
            let number = number_of(trace.name_of(*row));
            let range =
                Interval { start_ns: trace.rows.start_of(*row), end_ns: trace.rows.end_ns(*row) };
            let document = trace.document_of(*row);
            scope(format!("profiler step {number}"), document, vec![range])
        });
        let phases = self.phases.iter().map(|phase| {
            let name = format!("phase {}", phase.name);
            scope(name, phase.document, phase.ranges.clone())
        });
        steps.chain(profiler).chain(phases).collect()
    }
}

/// What follows the `#`; all of it when there is none.
pub(super) fn number_of(name: &str) -> &str {
    name.rsplit_once('#').map_or(name, |(_, number)| number)
}

/// The parts that questions can be asked about.
pub fn scopes(trace: &Trace) -> Vec<Scope> {
    TraceParts::new(trace, &device_timelines(trace)).scopes(trace)
}

/// The part that is called so: `step 3`, `profiler step 2`, `phase vae_decode`, in letters of any size. A phase is also found by
/// what it does: `phase vae`, `phase text encoder`, `phase denoising`. Of several documents, the first that has it.
///
/// What there is otherwise: the names of all parts.
pub fn find_scope(trace: &Trace, wanted: &str) -> Result<Scope, Vec<String>> {
    let parts = TraceParts::new(trace, &device_timelines(trace));
    let mut scopes = parts.scopes(trace);
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
