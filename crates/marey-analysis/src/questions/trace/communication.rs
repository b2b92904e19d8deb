//! What devices and hosts exchanged, how fast, and did they compute meanwhile?

use std::collections::BTreeMap;

use serde::Serialize;

use super::TraceContext;
use super::collective::{
    CollectiveCall, CollectiveKind, ToldBy, device_calls, element_bytes, host_calls,
};
use super::device_timeline::DeviceTimeline;
use crate::intervals::{Interval, common_length_ns, length_ns, union};
use crate::stats::{percentile, rate, ratio, sum};

/// All calls of a collective in one group of ranks with one type of elements.
///
/// ```text
/// compute     |------|     |----|
/// allreduce        |-----|              overlapped 2, exposed 4
/// ```
///
/// What one rank sees of a collective is its transfer and the waiting for the others: see [`super::across_ranks`].
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Communication {
    /// `allreduce`, as the trace calls it.
    pub name: String,
    /// What the name is known from.
    pub told_by: ToldBy,
    /// The group's description and name, or one of both; `None` when the trace does not say, as everything below that is an `Option`.
    pub group: Option<String>,
    /// Ranks in it.
    pub group_size: Option<u64>,
    /// The type of elements.
    pub element_type: Option<String>,
    /// How many calls.
    pub count: u64,
    /// Bytes that went in on this rank; of all calls, so that none of them may be without.
    pub bytes_in: Option<u64>,
    /// Bytes that came out on this rank, likewise.
    pub bytes_out: Option<u64>,
    /// All durations together.
    pub total_ns: u64,
    /// `total_ns / count`.
    pub mean_ns: f64,
    /// 95 of 100 are not longer, as the nearest rank.
    pub p95_ns: u64,
    /// Size over time: `S / total_ns`, `S` the larger of what goes in and what comes out on a rank. Waiting is in the time,
    /// so that it is a lower limit of what the links do.
    pub algorithm_bytes_per_second: Option<f64>,
    /// That times the factor of nccl-tests (its PERFORMANCE.md), which makes it comparable with the speed of the links, whatever
    /// the number of ranks: all-reduce `2(n-1)/n`; all-gather, reduce-scatter and all-to-all `(n-1)/n`; broadcast and
    /// reduce 1. That of send and receive is 1 by our own choice: each moves its bytes over one link once.
    pub bus_bytes_per_second: Option<f64>,
    /// Time with at least one of them, each moment once.
    pub covered_ns: u64,
    /// The part of it in which the device also computed; `None` for calls of the host.
    pub overlapped_ns: Option<u64>,
    /// The rest, likewise.
    pub exposed_ns: Option<u64>,
    /// What most of them were launched in: the innermost module or range that the program named.
    pub launched_in: Option<String>,
}

/// The communication of a device, what took most first.
pub fn communication(context: &TraceContext<'_>, timeline: &DeviceTimeline) -> Vec<Communication> {
    let calls = device_calls(context, timeline);
    grouped(context, &calls, Some(&timeline.compute))
}

/// Communication that the host does itself (gloo, MPI, UCC), likewise.
pub fn host_communication(context: &TraceContext<'_>) -> Vec<Communication> {
    grouped(context, &host_calls(context), None)
}

type Key<'a> = (&'a str, ToldBy, Option<&'a str>, Option<u64>, Option<&'a str>);

fn grouped(
    context: &TraceContext<'_>,
    calls: &[CollectiveCall<'_>],
    compute: Option<&[Interval]>,
) -> Vec<Communication> {
    let mut by_key: BTreeMap<Key<'_>, Vec<&CollectiveCall<'_>>> = BTreeMap::new();
    for call in calls {
        let key = (call.name, call.told_by, call.group, call.group_size, call.element_type);
        by_key.entry(key).or_default().push(call);
    }
    let mut rows: Vec<Communication> =
        by_key.into_iter().map(|(key, calls)| row(context, key, &calls, compute)).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
    rows
}

fn row(
    context: &TraceContext<'_>,
    (name, told_by, group, group_size, element_type): Key<'_>,
    calls: &[&CollectiveCall<'_>],
    compute: Option<&[Interval]>,
) -> Communication {
    let element = element_type.and_then(element_bytes);
    let bytes = |elements: fn(&CollectiveCall<'_>) -> Option<u64>| {
        let mut each = calls.iter().map(|call| elements(call));
        let all = each.try_fold(0_u64, |all, n| Some(all.saturating_add(n?)))?;
        Some(all.saturating_mul(element?))
    };
    let (bytes_in, bytes_out) = (bytes(|call| call.n_in), bytes(|call| call.n_out));
    let mut durations: Vec<u64> = calls.iter().map(|call| call.time.length_ns()).collect();
    durations.sort_unstable();
    let total_ns = sum(durations.iter().copied());
    let covered = union(calls.iter().map(|call| call.time).collect());
    let covered_ns = length_ns(&covered);
    let overlapped_ns = compute.map(|compute| common_length_ns(&covered, compute));
    let kind = CollectiveKind::of(name);
    let size = kind.size(bytes_in, bytes_out, group_size);
    let speed = size.and_then(|size| rate(size, total_ns));
    let factor = kind.bus_factor(group_size);
    Communication {
        name: name.to_owned(),
        told_by,
        group: group.map(str::to_owned),
        group_size,
        element_type: element_type.map(str::to_owned),
        count: calls.len() as u64,
        bytes_in,
        bytes_out,
        total_ns,
        mean_ns: ratio(u128::from(total_ns), calls.len().max(1) as u128),
        p95_ns: percentile(&durations, 0.95).unwrap_or_default(),
        algorithm_bytes_per_second: speed,
        bus_bytes_per_second: speed.zip(factor).map(|(speed, factor)| speed * factor),
        covered_ns,
        overlapped_ns,
        exposed_ns: overlapped_ns.map(|overlapped_ns| covered_ns - overlapped_ns),
        launched_in: most_frequent(context, calls),
    }
}

/// The name that most of them were launched in; of several the first of the alphabet.
fn most_frequent(context: &TraceContext<'_>, calls: &[&CollectiveCall<'_>]) -> Option<String> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for call in calls {
        if let Some(row) = call.launched_in {
            *counts.entry(context.trace.name_of(row)).or_default() += 1;
        }
    }
    let most = counts.iter().rev().max_by_key(|(_, count)| **count);
    most.map(|(name, _)| (*name).to_owned())
}
