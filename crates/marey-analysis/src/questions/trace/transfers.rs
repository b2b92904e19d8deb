//! What was copied and filled, in which direction, how fast, and did anything else run meanwhile?

use std::collections::BTreeMap;

use serde::Serialize;

use super::device_timeline::{DeviceTimeline, DeviceWork, WorkKind};
use super::{HostKind, TraceContext};
use crate::import::chrome::Trace;
use crate::intervals::{Interval, common_length_ns, length_ns, union};
use crate::stats::{rate, ratio, sum};

/// Copies of one direction, or fills.
///
/// ```text
/// kernels   |------|     |----|
/// HtoD           |----|              3 hidden, 3 exposed
/// DtoH             |--|              1 hidden, 3 exposed
/// ```
///
/// Copies of two directions at the same time are exposed in both: their sums may pass the exposed time of all copies.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Transfers {
    /// `HtoD`, `DtoH`, `DtoD`, `HtoH`, `PtoP`, `Memset`; the name of the copy when it says none of them.
    pub direction: String,
    /// The memory of the host that takes part; `None` for all of a direction, or when the name does not say.
    pub host_memory: Option<TransferMemory>,
    /// How many.
    pub count: u64,
    /// All durations together.
    pub total_ns: u64,
    /// Bytes of those that say how many.
    pub bytes: u64,
    /// How many do not say.
    pub n_without_bytes: u64,
    /// Bytes a second, over those that say how many; `None` when they took no time.
    pub bytes_per_second: Option<f64>,
    /// Bytes of one, over those that say how many; `None` when there are none.
    pub mean_bytes: Option<f64>,
    /// Time with at least one of them, each moment once.
    pub covered_ns: u64,
    /// The part of it in which no kernel ran on the device.
    pub exposed_ns: u64,
    /// The rest.
    pub hidden_ns: u64,
    /// `covered_ns` of the device's span, 0 to 1; `None` when that is zero.
    pub span_ratio: Option<f64>,
}

/// Memory of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferMemory {
    /// Locked, so that devices copy by themselves.
    Pinned,
    /// Of the usual kind: the driver copies it to locked memory first, and the call waits.
    Pageable,
}

/// A copy that moved much.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LargeTransfer {
    /// When it began, after the first event of the trace.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// As above.
    pub direction: String,
    /// `None` when the name does not say.
    pub host_memory: Option<TransferMemory>,
    /// `None` when the trace does not say.
    pub bytes: Option<u64>,
    /// Bytes a second; `None` without bytes, or when it took no time.
    pub bytes_per_second: Option<f64>,
    /// The innermost operator around the call that launched it; `None` when there is none, as below.
    pub operator: Option<String>,
    /// The innermost range that the program named, likewise.
    pub annotation: Option<String>,
}

/// How many large copies are listed.
const N_LARGEST: usize = 10;

/// Directions, as names of copies have them, and what they are called here. HIP writes them out (`hipMemcpyKind` in the
/// activity names of roctracer: `CopyHostToDevice`).
const DIRECTIONS: [(&str, &str); 9] = [
    ("HtoD", "HtoD"),
    ("DtoH", "DtoH"),
    ("DtoD", "DtoD"),
    ("HtoH", "HtoH"),
    ("PtoP", "PtoP"),
    ("Memset", "Memset"),
    ("CopyHostToDevice", "HtoD"),
    ("CopyDeviceToHost", "DtoH"),
    ("CopyDeviceToDevice", "DtoD"),
];

/// The first direction that a name has, otherwise the name.
pub(super) fn direction(name: &str) -> &str {
    let places = DIRECTIONS
        .iter()
        .filter_map(|(written, direction)| Some((name.find(written)?, *direction)));
    places.min().map_or(name, |(_, direction)| direction)
}

/// A copy that leaves the device's memory, which takes as long as the way does.
pub(super) fn is_transfer(trace: &Trace, work: &DeviceWork) -> bool {
    work.kind == WorkKind::Memcpy && direction(trace.names.get(work.name)) != "DtoD"
}

/// What the name says of the host's memory: `Memcpy HtoD (Pinned -> Device)`.
fn host_memory(name: &str) -> Option<TransferMemory> {
    if name.contains("Pageable") {
        return Some(TransferMemory::Pageable);
    }
    name.contains("Pinned").then_some(TransferMemory::Pinned)
}

/// The copies and fills of a device by direction, in alphabetical order.
pub fn transfers(trace: &Trace, timeline: &DeviceTimeline) -> Vec<Transfers> {
    grouped(trace, timeline, |name| (direction(name), None))
}

/// Likewise, apart by the host's memory.
pub fn transfers_by_memory(trace: &Trace, timeline: &DeviceTimeline) -> Vec<Transfers> {
    grouped(trace, timeline, |name| (direction(name), host_memory(name)))
}

type Key<'a> = (&'a str, Option<TransferMemory>);

fn bytes_of(trace: &Trace, work: &DeviceWork) -> Option<u64> {
    trace.work.get(work.origin as usize)?.bytes
}

fn grouped<'a>(
    trace: &'a Trace,
    timeline: &DeviceTimeline,
    key: impl Fn(&'a str) -> Key<'a>,
) -> Vec<Transfers> {
    let mut by_key: BTreeMap<Key<'_>, Vec<(Interval, Option<u64>)>> = BTreeMap::new();
    for work in timeline.work.iter().filter(|work| !work.kind.is_kernel()) {
        let each = by_key.entry(key(trace.names.get(work.name))).or_default();
        each.push((work.interval(), bytes_of(trace, work)));
    }
    if by_key.is_empty() {
        return Vec::new();
    }
    let kernels = timeline.kernels();
    let span_ns = timeline.span().length_ns();
    by_key.into_iter().map(|(key, each)| row(key, &each, &kernels, span_ns)).collect()
}

/// Of copies with their bytes, as far as the trace says them.
fn row(
    (direction, host_memory): Key<'_>,
    each: &[(Interval, Option<u64>)],
    kernels: &[Interval],
    span_ns: u64,
) -> Transfers {
    let known = || each.iter().filter_map(|(time, bytes)| Some((time.length_ns(), (*bytes)?)));
    let (timed_ns, bytes) = (sum(known().map(|of| of.0)), sum(known().map(|of| of.1)));
    let n_with_bytes = known().count() as u64;
    let covered = union(each.iter().map(|(time, _)| *time).collect());
    let covered_ns = length_ns(&covered);
    let hidden_ns = common_length_ns(&covered, kernels);
    Transfers {
        direction: direction.to_owned(),
        host_memory,
        count: each.len() as u64,
        total_ns: sum(each.iter().map(|(time, _)| time.length_ns())),
        bytes,
        n_without_bytes: each.len() as u64 - n_with_bytes,
        bytes_per_second: rate(bytes, timed_ns),
        mean_bytes: (n_with_bytes > 0).then(|| ratio(bytes.into(), n_with_bytes.into())),
        covered_ns,
        exposed_ns: covered_ns - hidden_ns,
        hidden_ns,
        span_ratio: (span_ns > 0).then(|| ratio(covered_ns.into(), span_ns.into())),
    }
}

/// The copies that moved most, with what launched them; of those that do not say how much, the longest, at the end.
pub fn largest_transfers(
    context: &TraceContext<'_>,
    timeline: &DeviceTimeline,
) -> Vec<LargeTransfer> {
    let trace = context.trace;
    let copies = timeline.work.iter().filter(|w| w.kind == WorkKind::Memcpy);
    let size = |work: &DeviceWork| (bytes_of(trace, work), work.length_ns());
    let mut copies: Vec<&DeviceWork> = copies.collect();
    copies.sort_by(|a, b| size(b).cmp(&size(a)).then(a.start_ns.cmp(&b.start_ns)));
    copies.truncate(N_LARGEST);
    let large = |work: &DeviceWork| {
        let name = trace.names.get(work.name);
        let (bytes, duration_ns) = size(work);
        let around = |kind| {
            let row = context.owners.innermost(trace, work.launch?, kind)?;
            Some(trace.name_of(row).to_owned())
        };
        LargeTransfer {
            start_ns: work.start_ns,
            duration_ns,
            direction: direction(name).to_owned(),
            host_memory: host_memory(name),
            bytes,
            bytes_per_second: bytes.and_then(|bytes| rate(bytes, duration_ns)),
            operator: around(HostKind::Operator),
            annotation: around(HostKind::Range),
        }
    };
    copies.into_iter().map(large).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_direction_of_a_name_counts() {
        assert_eq!(direction("Memcpy HtoD (Pageable -> Device)"), "HtoD");
        assert_eq!(direction("Memset (Device)"), "Memset");
        assert_eq!(direction("CopyDeviceToHost"), "DtoH");
        assert_eq!(direction("CopyPeerToPeer"), "CopyPeerToPeer");
        assert_eq!(direction("DtoD after HtoD"), "DtoD");
    }

    #[test]
    fn memory_of_the_host_is_what_the_name_says_or_not_known() {
        let pinned = Some(TransferMemory::Pinned);
        assert_eq!(host_memory("Memcpy HtoD (Pinned -> Device)"), pinned);
        assert_eq!(host_memory("Memcpy DtoH (Device -> Pinned)"), pinned);
        let pageable = Some(TransferMemory::Pageable);
        assert_eq!(host_memory("Memcpy DtoH (Device -> Pageable)"), pageable);
        assert_eq!(host_memory("Memcpy HtoD (Host -> Device)"), None);
        assert_eq!(host_memory("CopyHostToDevice"), None);
    }
}
