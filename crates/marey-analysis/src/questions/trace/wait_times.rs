//! How long did the host wait for a device within given times?

use std::collections::BTreeMap;

use crate::import::chrome::Trace;
use crate::intervals::{Interval, length_within, union};

/// Calls that wait for a device, by document, and there as the time of each thread by itself.
pub(super) struct WaitTimes {
    threads: Vec<(u32, Vec<Interval>)>,
}

impl WaitTimes {
    /// Of the rows of calls that wait: see [`super::synchronisation()`].
    pub(super) fn new(trace: &Trace, rows: &[u32]) -> Self {
        let mut by_track: BTreeMap<u32, (u32, Vec<Interval>)> = BTreeMap::new();
        for row in rows {
            let Some(track) = trace.rows.track.get(*row as usize) else {
                continue;
            };
            let document = trace.document_of(*row);
            let thread = by_track.entry(*track).or_insert((document, Vec::new()));
            thread.1.push(Interval {
                start_ns: trace.rows.start_of(*row),
                end_ns: trace.rows.end_ns(*row),
            });
        }
        let threads = by_track.into_values();
        Self {
            threads: threads
                .map(|(document, times)| (document, union(times)))
                .collect(),
        }
    }

    /// Within disjoint times of a document, in nanoseconds; the times of several threads add up.
    pub(super) fn within(&self, document: u32, ranges: &[Interval]) -> u64 {
        let threads = self.threads.iter().filter(|thread| thread.0 == document);
        let times =
            threads.flat_map(|(_, times)| ranges.iter().map(|range| length_within(*range, times)));
        times.fold(0, u64::saturating_add)
    }
}
