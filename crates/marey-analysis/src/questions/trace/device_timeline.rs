//! What a device did, in order of time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::import::chrome::{Class, Identifier, Meanings, Trace};
use crate::intervals::{Interval, union};

/// The work of one device, and the time it covers.
#[derive(Clone, Debug)]
pub struct DeviceTimeline {
    /// The device: a process of the trace.
    pub process: u32,
    /// Its streams: numbers in order, then texts.
    pub streams: Vec<Identifier>,
    /// Its work by beginning; what begins at one moment by stream.
    pub work: Vec<DeviceWork>,
    /// Time in which it did anything, as disjoint intervals.
    pub busy: Vec<Interval>,
    /// Time with kernels that are not communication.
    pub compute: Vec<Interval>,
    /// Time with kernels that are.
    pub communication: Vec<Interval>,
    /// Time with copies and fills.
    pub memory: Vec<Interval>,
    /// Time without work in the trace in which there may have been some: see [`super::LaunchCoverage`]. Disjoint, in order.
    pub unknown: Vec<Interval>,
}

/// One thing that a device did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceWork {
    /// Nanoseconds after the first event of the trace.
    pub start_ns: u64,
    /// Likewise; never before `start_ns`.
    pub end_ns: u64,
    /// What it was.
    pub kind: WorkKind,
    /// Its name, by number.
    pub name: u32,
    /// Where the trace has more of it: an index into `Trace::work`.
    pub origin: u32,
    /// The row of the call that launched it; `None` when the trace has none.
    pub launch: Option<u32>,
    /// Where it ran: an index into the streams of its device.
    pub stream: u32,
}

/// What a device can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// A kernel that computes.
    Compute,
    /// A kernel that talks to other devices.
    Communication,
    /// A copy.
    Memcpy,
    /// A fill.
    Memset,
}

impl WorkKind {
    /// A kernel, of either kind; otherwise a copy or a fill.
    pub fn is_kernel(self) -> bool {
        matches!(self, Self::Compute | Self::Communication)
    }
}

impl DeviceWork {
    /// The time it took.
    pub fn interval(&self) -> Interval {
        Interval { start_ns: self.start_ns, end_ns: self.end_ns }
    }

    /// How long that is.
    pub fn length_ns(&self) -> u64 {
        self.interval().length_ns()
    }
}

impl DeviceTimeline {
    /// Of work; in order of time where its span is asked for.
    pub(super) fn new(process: u32, streams: Vec<Identifier>, work: Vec<DeviceWork>) -> Self {
        Self {
            process,
            streams,
            busy: covered(&work, |_| true),
            compute: covered(&work, |work| work.kind == WorkKind::Compute),
            communication: covered(&work, |work| work.kind == WorkKind::Communication),
            memory: covered(&work, |work| !work.kind.is_kernel()),
            unknown: Vec::new(),
            work,
        }
    }

    /// The same device with the work of which this holds.
    #[must_use]
    pub fn only(self, is_meant: impl Fn(&DeviceWork) -> bool) -> Self {
        let mut work = self.work;
        work.retain(is_meant);
        Self { unknown: self.unknown, ..Self::new(self.process, self.streams, work) }
    }

    /// From the beginning of its first work to the end of its last.
    ///
    /// ```text
    /// work    |--a--|   |-b-|        ||c
    /// span    |-----------------------|
    /// ```
    pub fn span(&self) -> Interval {
        let end_ns = self.work.iter().map(|work| work.end_ns).max();
        Interval {
            start_ns: self.work.first().map_or(0, |work| work.start_ns),
            end_ns: end_ns.unwrap_or_default(),
        }
    }

    /// Of work that began before its launch, by how much: clocks of host and device differ at least so far.
    pub(super) fn before_launch(&self, trace: &Trace) -> impl Iterator<Item = u64> {
        let launched = self.work.iter().filter_map(|work| Some((work, work.launch?)));
        let early =
            launched.map(|(work, call)| trace.rows.start_of(call).saturating_sub(work.start_ns));
        early.filter(|early_ns| *early_ns > 0)
    }

    /// Time with kernels of either kind.
    pub(super) fn kernels(&self) -> Cow<'_, [Interval]> {
        if self.communication.is_empty() {
            return Cow::Borrowed(&self.compute);
        }
        Cow::Owned(union([&self.compute[..], &self.communication].concat()))
    }
}

/// The time that the work of which this holds covers.
pub(crate) fn covered(
    work: &[DeviceWork],
    is_meant: impl Fn(&DeviceWork) -> bool,
) -> Vec<Interval> {
    let meant = work.iter().filter(|work| is_meant(work));
    let mut covered = union(meant.map(DeviceWork::interval).collect());
    covered.shrink_to_fit();
    covered
}

/// Work with when it was launched, in order of that; and what has no launch in the trace.
pub(super) fn by_launch<'a>(
    trace: &Trace,
    work: impl Iterator<Item = &'a DeviceWork>,
) -> (Vec<(u64, DeviceWork)>, Vec<DeviceWork>) {
    let (mut launched, mut others) = (Vec::new(), Vec::new());
    for work in work {
        match work.launch {
            Some(call) => launched.push((trace.rows.start_of(call), *work)),
            None => others.push(*work),
        }
    }
    launched.sort_by_key(|(at_ns, work)| (*at_ns, work.start_ns, work.origin));
    (launched, others)
}

/// Parts of the names of kernels that talk to other devices.
const COMMUNICATION: &str = "nccl rccl nvshmem cross_device_reduce allreduce all_reduce oneshot twoshot deep_ep \
     multimem_all";

/// A kernel of this name talks to other devices.
pub fn is_communication(kernel: &str) -> bool {
    let lower = kernel.to_ascii_lowercase();
    COMMUNICATION.split(' ').any(|part| lower.contains(part))
}

/// Every device that did something, by the number or text that the trace calls it, in order.
///
/// Work is known by its category alone, its device by the process of its row. Sorts the work: O(n log n).
pub fn device_timelines(trace: &Trace) -> Vec<DeviceTimeline> {
    let launches = Launches::new(trace);
    let mut kernels = Meanings::new(&trace.names);
    let mut by_process: BTreeMap<u32, Vec<DeviceWork>> = BTreeMap::new();
    for (origin, work) in (0_u32..).zip(&trace.work) {
        let name = trace.rows.name_of(work.row).unwrap_or_default();
        let start_ns = trace.rows.start_of(work.row);
        let kind = match work.class {
            Class::Memcpy => WorkKind::Memcpy,
            Class::Memset => WorkKind::Memset,
            _ if kernels.of(name, is_communication) == Some(true) => WorkKind::Communication,
            _ => WorkKind::Compute,
        };
        let process = trace.process_of(work.row);
        by_process.entry(process).or_default().push(DeviceWork {
            start_ns,
            end_ns: trace.rows.end_ns(work.row),
            kind,
            name,
            origin,
            launch: launches.of(trace.document_of_process(process), work.correlation, start_ns),
            stream: 0,
        });
    }
    let mut timelines: Vec<DeviceTimeline> =
        by_process.into_iter().map(|(process, work)| timeline(trace, process, work)).collect();
    timelines.sort_by_cached_key(|timeline| {
        let process = trace.tracks.processes.get(timeline.process as usize);
        let pid = process.map_or(Identifier::None, |process| process.pid);
        let document = trace.document_of_process(timeline.process);
        (document, pid, trace.process_label(timeline.process))
    });
    timelines
}

/// A device of all this work, whose streams are not known yet.
fn timeline(trace: &Trace, process: u32, mut work: Vec<DeviceWork>) -> DeviceTimeline {
    let stream_of = |work: &DeviceWork| {
        let origin = trace.work.get(work.origin as usize);
        origin.map_or(Identifier::None, |origin| origin.stream)
    };
    let mut streams: Vec<Identifier> = work.iter().map(stream_of).collect();
    streams.sort_unstable();
    streams.dedup();
    for work in &mut work {
        let place = streams.binary_search(&stream_of(work)).unwrap_or_default();
        work.stream = u32::try_from(place).unwrap_or(u32::MAX);
    }
    // Of what begins together nothing but what it is decides: the order of the file changes no answer.
    let place = |work: &DeviceWork| (work.start_ns, work.stream, work.end_ns);
    let name = |work: &DeviceWork| trace.names.get(work.name);
    work.sort_unstable_by(|a, b| {
        let by_place = place(a).cmp(&place(b));
        by_place.then_with(|| name(a).cmp(name(b))).then_with(|| a.origin.cmp(&b.origin))
    });
    DeviceTimeline::new(process, streams, work)
}

/// Calls by what they launched.
struct Launches {
    /// Document, correlation, beginning, row; ascending.
    calls: Vec<(u32, i64, u64, u32)>,
}

impl Launches {
    fn new(trace: &Trace) -> Self {
        let known = trace.calls.iter().filter_map(|call| {
            let start_ns = trace.rows.start_of(call.row);
            Some((trace.document_of(call.row), call.correlation?, start_ns, call.row))
        });
        let mut calls: Vec<_> = known.collect();
        calls.sort_unstable();
        Self { calls }
    }

    /// The call that launched this. Usually there is one; of several, as when traces were put together, the last that
    /// began before the work did.
    fn of(&self, document: u32, correlation: Option<i64>, start_ns: u64) -> Option<u32> {
        let wanted = (document, correlation?);
        let after = (wanted.0, wanted.1, start_ns, u32::MAX);
        let at = self.calls.partition_point(|call| *call <= after);
        let is_wanted = |call: &&(u32, i64, u64, u32)| (call.0, call.1) == wanted;
        let before = at.checked_sub(1).and_then(|at| self.calls.get(at));
        let found = before.filter(is_wanted).or_else(|| self.calls.get(at).filter(is_wanted));
        found.map(|call| call.3)
    }
}
