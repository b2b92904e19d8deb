//! Which durations cannot be true?

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork};
use crate::import::chrome::Trace;
use crate::stats::ratio;

/// Work that lasts on after the work behind it on its stream has ended. A stream does one thing after the other; a kernel
/// may begin a little before its predecessor ends where the device was asked to prepare it, but it does not end before.
///
/// ```text
/// stream    |-----a-----|                 legal: b was prepared, and ends after a
///                     |-----b-----|
///
/// stream    |------------------a------------------|    not true: b came after a and ended long before
///                |--b--|                               a is over by what lies behind the end of b
/// ```
///
/// Nothing is changed for it: the durations are in all sums as the trace has them, and this says how much of them that is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SuspiciousDurations {
    /// Work that ends more than 1 ms after its successor on the stream does.
    pub n_suspicious: u64,
    /// Their durations together.
    pub total_ns: u64,
    /// Share of the durations of all work of the device, 0 to 1; `None` when there is none suspicious.
    pub ratio: Option<f64>,
    /// What they last beyond the beginning of their successor: the least that is wrong.
    pub excess_ns: u64,
    /// Pairs on a stream that overlap and are not suspicious.
    pub n_legal_overlaps: u64,
    /// Time that these overlap by.
    pub legal_overlap_ns: u64,
    /// The first of the suspicious.
    pub first: Vec<SuspiciousDuration>,
}

/// Work whose duration cannot be true.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SuspiciousDuration {
    /// Its name.
    pub name: String,
    /// Its stream.
    pub stream: String,
    /// When it began, after the first event of the trace.
    pub start_ns: u64,
    /// How long it lasted, as the trace has it.
    pub duration_ns: u64,
    /// What came next on its stream.
    pub next: String,
    /// How long after the end of that it ended.
    pub overrun_ns: u64,
}

/// Overruns up to this are taken for imprecision, and for kernels that did not wait for their predecessor.
const FLOOR_NS: u64 = 1_000_000;

/// Examples that are kept.
const MOST_EXAMPLES: usize = 5;

/// The durations of a device that cannot be true. Looks at each piece of work and its successor on the stream: O(n).
pub fn suspicious_durations(trace: &Trace, timeline: &DeviceTimeline) -> SuspiciousDurations {
    let mut found = SuspiciousDurations::default();
    let mut last: Vec<Option<&DeviceWork>> = vec![None; timeline.streams.len()];
    for work in &timeline.work {
        let Some(place) = last.get_mut(work.stream as usize) else {
            continue;
        };
        let Some(previous) = place.replace(work) else {
            continue;
        };
        let overlap_ns = previous.end_ns.saturating_sub(work.start_ns);
        let overrun_ns = previous.end_ns.saturating_sub(work.end_ns);
        if overrun_ns > FLOOR_NS {
            let duration_ns = previous.length_ns();
            found.n_suspicious += 1;
            found.total_ns = found.total_ns.saturating_add(duration_ns);
            found.excess_ns = found.excess_ns.saturating_add(overlap_ns);
            if found.first.len() < MOST_EXAMPLES {
                let stream = timeline.streams.get(previous.stream as usize);
                found.first.push(SuspiciousDuration {
                    name: trace.names.get(previous.name).to_owned(),
                    stream: stream.map_or_else(String::new, |s| trace.tracks.label(*s)),
                    start_ns: previous.start_ns,
                    duration_ns,
                    next: trace.names.get(work.name).to_owned(),
                    overrun_ns,
                });
            }
        } else if overlap_ns > 0 {
            found.n_legal_overlaps += 1;
            found.legal_overlap_ns = found.legal_overlap_ns.saturating_add(overlap_ns);
        }
    }
    if found.n_suspicious > 0 {
        let durations = timeline.work.iter().map(DeviceWork::length_ns);
        let all: u128 = durations.map(u128::from).sum();
        found.ratio = Some(ratio(u128::from(found.total_ns), all));
    }
    found
}
