//! The queues of devices, for the way back through them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{DeviceTimeline, DeviceWork};
use crate::import::chrome::{Identifier, Trace};

/// The work of all devices of a document, stream by stream.
pub(super) struct Queues<'a> {
    /// By stream, and there in order of time; what is alike in time in the order of launches and names, so that the order of
    /// the file makes no difference. 16 bytes a piece of work.
    order: Vec<Queued<'a>>,
    /// The same by their ends.
    by_end: Vec<u32>,
    /// Device and stream of each number that [`Queued`] has.
    pub(super) streams: Vec<(u32, Identifier)>,
    by_stream: BTreeMap<(u32, Identifier), u32>,
}

/// Work with the stream it ran on.
#[derive(Clone, Copy)]
pub(super) struct Queued<'a> {
    pub(super) stream: u32,
    pub(super) work: &'a DeviceWork,
}

/// Work that something may have waited for.
pub(super) struct Wanted {
    /// Only of this device.
    pub(super) process: Option<u32>,
    /// Only of this stream.
    pub(super) stream: Option<u32>,
    /// Only what was launched by then.
    pub(super) launched_by_ns: u64,
}

/// Work of a stream that is looked at to find what an event stands for.
const MOST_LOOKS: usize = 10_000;

impl<'a> Queues<'a> {
    /// Sorts the work: O(n log n).
    pub(super) fn new(trace: &Trace, timelines: impl Iterator<Item = &'a DeviceTimeline>) -> Self {
        let mut queues = Self {
            order: Vec::new(),
            by_end: Vec::new(),
            streams: Vec::new(),
            by_stream: BTreeMap::new(),
        };
        for timeline in timelines {
            let first = u32::try_from(queues.streams.len()).unwrap_or(u32::MAX);
            for (stream, identifier) in (first..).zip(&timeline.streams) {
                queues.streams.push((timeline.process, *identifier));
                queues
                    .by_stream
                    .insert((timeline.process, *identifier), stream);
            }
            queues.order.extend(timeline.work.iter().map(|work| Queued {
                stream: first.saturating_add(work.stream),
                work,
            }));
        }
        let key = |queued: &Queued<'_>| {
            let work = queued.work;
            (
                queued.stream,
                work.start_ns,
                work.end_ns,
                launched_ns(trace, work),
            )
        };
        let name = |queued: &Queued<'_>| trace.names.get(queued.work.name);
        queues
            .order
            .sort_unstable_by(|a, b| key(a).cmp(&key(b)).then_with(|| name(a).cmp(name(b))));
        queues.by_end = (0_u32..).take(queues.order.len()).collect();
        let end = |at: &u32| {
            queues
                .order
                .get(*at as usize)
                .map(|queued| queued.work.end_ns)
        };
        queues.by_end.sort_by_key(end);
        queues
    }

    /// A piece of work.
    pub(super) fn get(&self, at: u32) -> Option<Queued<'a>> {
        self.order.get(at as usize).copied()
    }

    /// What ends last; of equals the last.
    pub(super) fn last_where(&self, is_meant: impl Fn(&DeviceWork) -> bool) -> Option<u32> {
        let mut latest = self.by_end.iter().rev();
        latest
            .find(|at| self.get(**at).is_some_and(|queued| is_meant(queued.work)))
            .copied()
    }

    /// The threads that launched any of it.
    pub(super) fn launching_tracks(&self, trace: &Trace) -> BTreeSet<u32> {
        let launches = self.order.iter().filter_map(|queued| queued.work.launch);
        let tracks = launches.filter_map(|call| trace.rows.track.get(call as usize).copied());
        tracks.collect()
    }

    /// When the first of these began.
    pub(super) fn first_start_where(&self, is_meant: impl Fn(&DeviceWork) -> bool) -> Option<u64> {
        let meant = self.order.iter().filter(|queued| is_meant(queued.work));
        meant.map(|queued| queued.work.start_ns).min()
    }

    /// What came before it on its stream.
    pub(super) fn previous(&self, at: u32) -> Option<u32> {
        let before = at.checked_sub(1)?;
        let is_same = self.get(before)?.stream == self.get(at)?.stream;
        is_same.then_some(before)
    }

    /// The number of a stream.
    pub(super) fn stream(&self, process: u32, stream: i64) -> Option<u32> {
        let known = self.by_stream.get(&(process, Identifier::Number(stream)));
        known.copied()
    }

    /// What of this ended last, after `from_ns` and by `to_ns`. Looks at all work that ended in that time at most.
    pub(super) fn last_ended(
        &self,
        trace: &Trace,
        wanted: &Wanted,
        (from_ns, to_ns): (u64, u64),
    ) -> Option<u32> {
        let after = self.by_end.partition_point(|at| self.end_ns(*at) <= to_ns);
        let ended = self.by_end.get(..after)?.iter().rev().copied();
        let mut ended = ended.take_while(|at| self.end_ns(*at) > from_ns);
        ended.find(|at| {
            let Some(queued) = self.get(*at) else {
                return false;
            };
            let process = self.streams.get(queued.stream as usize).map(|of| of.0);
            wanted.stream.is_none_or(|stream| stream == queued.stream)
                && (wanted.process.is_none() || wanted.process == process)
                && launched_ns(trace, queued.work) <= wanted.launched_by_ns
        })
    }

    /// The last work before the work `at` that a device did on any stream: it had begun before and ended by then.
    pub(super) fn last_of_device(&self, at: u32) -> Option<u32> {
        let queued = self.get(at)?;
        let process = self.streams.get(queued.stream as usize)?.0;
        let start_ns = queued.work.start_ns;
        let after = self
            .by_end
            .partition_point(|at| self.end_ns(*at) <= start_ns);
        let ended = self.by_end.get(..after)?.iter().rev().copied();
        let mut ended = ended.take(MOST_LOOKS);
        ended.find(|at| {
            self.get(*at).is_some_and(|other| {
                let of = self.streams.get(other.stream as usize).map(|of| of.0);
                of == Some(process) && other.work.start_ns < start_ns
            })
        })
    }

    /// The last work of a stream that was launched before an event was recorded and ended by `by_ns`: what the event stands for.
    pub(super) fn before_event(
        &self,
        trace: &Trace,
        stream: u32,
        recorded_ns: u64,
        by_ns: u64,
    ) -> Option<u32> {
        let order = &self.order;
        let after = order.partition_point(|q| (q.stream, q.work.start_ns) < (stream, by_ns));
        let earlier = order.get(..after)?.iter().rev().take(MOST_LOOKS);
        let mut earlier = earlier
            .take_while(|queued| queued.stream == stream)
            .zip(1_usize..);
        let (found, back) =
            earlier.find(|(queued, _)| launched_ns(trace, queued.work) < recorded_ns)?;
        let at = u32::try_from(after.checked_sub(back)?).ok()?;
        (found.work.end_ns <= by_ns).then_some(at)
    }

    fn end_ns(&self, at: u32) -> u64 {
        self.get(at).map_or(0, |queued| queued.work.end_ns)
    }
}

/// When the work was launched; without a launch it was by its beginning.
pub(super) fn launched_ns(trace: &Trace, work: &DeviceWork) -> u64 {
    let launch = work.launch.map(|call| trace.rows.start_of(call));
    launch.unwrap_or(work.start_ns)
}
