//! Which calls wait for a device, and how long did the host wait within given times?

use std::collections::BTreeMap;

use super::{DeviceTimeline, WorkKind};
use crate::import::chrome::{Meanings, Trace};
use crate::intervals::{Interval, length_within, union};
use crate::stats::sum;

/// Calls that wait for a device.
#[derive(Debug)]
pub(super) struct WaitTimes {
    /// Their rows, in order.
    pub(super) rows: Vec<u32>,
    /// Their times, of each thread by itself, with its document.
    threads: Vec<(u32, Vec<Interval>)>,
}

impl WaitTimes {
    /// Of all the trace. The timelines say when copies ended; a copy that is in none waits for nothing.
    pub(super) fn new(trace: &Trace, timelines: &[DeviceTimeline]) -> Self {
        let rows = waiting_rows(trace, timelines);
        let mut by_track: BTreeMap<u32, (u32, Vec<Interval>)> = BTreeMap::new();
        for row in &rows {
            let Some(track) = trace.rows.track.get(*row as usize) else {
                continue;
            };
            let thread = by_track.entry(*track).or_insert((trace.document_of(*row), Vec::new()));
            thread.1.push(trace.rows.time_of(*row));
        }
        let threads = by_track.into_values();
        Self { threads: threads.map(|(document, times)| (document, union(times))).collect(), rows }
    }

    /// The row is such a call.
    pub(super) fn has(&self, row: u32) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Within disjoint times of a document, in nanoseconds; the times of several threads add up.
    pub(super) fn within(&self, document: u32, ranges: &[Interval]) -> u64 {
        let times = self.of(document);
        sum(times.flat_map(|times| ranges.iter().map(|range| length_within(*range, times))))
    }

    /// One of a document begins or ends in this time, or goes on in it.
    pub(super) fn touch(&self, document: u32, time: Interval) -> bool {
        self.of(document).any(|times| {
            let next = times.partition_point(|one| one.end_ns < time.start_ns);
            let next = times.get(next);
            next.is_some_and(|one| one.start_ns <= time.end_ns)
        })
    }

    fn of(&self, document: u32) -> impl Iterator<Item = &[Interval]> {
        let threads = self.threads.iter();
        let threads = threads.filter(move |thread| thread.0 == document);
        threads.map(|(_, times)| times.as_slice())
    }
}

/// What a name says of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Always,
    /// When the copy ends before the call does: copies from and to pageable memory are like that.
    WithItsCopy,
    Never,
}

/// A call of this name copies.
pub(super) fn is_copy(name: &str) -> bool {
    ["cudaMemcpy", "hipMemcpy", "cuMemcpy"].iter().any(|beginning| name.starts_with(beginning))
}

fn waits(name: &str) -> Waits {
    // CUDA and HIP: `cudaStreamSynchronize`; MTIA: `synchronizeStream`.
    if name.contains("Synchronize") || name.starts_with("synchronize") {
        Waits::Always
    } else if !is_copy(name) {
        Waits::Never
    } else if name.contains("Async") || name.contains("DtoD") {
        Waits::WithItsCopy
    } else {
        Waits::Always
    }
}

fn waiting_rows(trace: &Trace, timelines: &[DeviceTimeline]) -> Vec<u32> {
    let mut known = Meanings::new(&trace.names);
    let mut copies: Option<BTreeMap<u32, u64>> = None;
    let mut rows = Vec::new();
    for call in &trace.calls {
        let name = trace.rows.name_of(call.row).unwrap_or_default();
        let is_waiting = match known.of(name, waits) {
            Some(Waits::Always) => true,
            Some(Waits::Never) | None => false,
            Some(Waits::WithItsCopy) => {
                let copies = copies.get_or_insert_with(|| copies_to_host(trace, timelines));
                let end_ns = trace.rows.end_ns(call.row);
                copies.get(&call.row).is_some_and(|copied| *copied <= end_ns)
            }
        };
        if is_waiting {
            rows.push(call.row);
        }
    }
    rows.sort_unstable();
    rows
}

/// When copies from devices to the host ended, by the rows of the calls that launched them.
fn copies_to_host(trace: &Trace, timelines: &[DeviceTimeline]) -> BTreeMap<u32, u64> {
    let work = timelines.iter().flat_map(|t| &t.work);
    let copies = work.filter(|work| {
        work.kind == WorkKind::Memcpy && trace.names.get(work.name).contains("DtoH")
    });
    copies.filter_map(|work| Some((work.launch?, work.end_ns))).collect()
}
