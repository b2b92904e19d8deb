//! How far does the device run behind the host, and which calls launch its work?

use std::collections::BTreeMap;

use serde::Serialize;

use super::device_timeline::DeviceTimeline;
use super::idle_gaps::{GapReason, IdleGaps};
use super::part_list::PartSpread;
use crate::import::chrome::Trace;
use crate::stats::{float, percentile, sum, sums_by};

/// Launches of a device's work.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Launches {
    /// Calls that launched something, by name; the one that took most time of the host first.
    pub calls: Vec<LaunchCall>,
    /// From the beginning of a call to the beginning of the first work that it launched; `None` when there is none.
    pub delay: Option<LaunchDelay>,
    /// Likewise from the end of the call; work may begin before its call returns, and does not count here.
    pub delay_after_call: Option<LaunchDelay>,
    /// Work that began before the call that launched it: the clocks of host and device differ. Not among the delays.
    pub n_before_launch: u64,
    /// By how much at most; `None` when there is none.
    pub before_launch_ns: Option<u64>,
    /// Work without a launch in the trace.
    pub n_without_launch: u64,
    /// Work that was launched and had not begun; `None` when no launch is known.
    pub queue: Option<LaunchQueue>,
    /// Kernels for each second of the device's span; `None` when that is 0.
    pub kernels_per_second: Option<f64>,
    /// Share of the device's idle time in which the host was late, being in operators and calls, 0 to 1; `None` when the device was
    /// never idle. Near 1: the program is as fast as it can launch.
    pub launch_bound_ratio: Option<f64>,
}

/// Calls of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct LaunchCall {
    /// `cudaLaunchKernel`, `hipGraphLaunch`.
    pub name: String,
    /// How many launched something on this device.
    pub count: u64,
    /// Their time on the host.
    pub host_ns: u64,
    /// Kernels, copies and fills that they launched.
    pub n_ops: u64,
}

/// Delays of calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LaunchDelay {
    /// Of how many calls.
    pub count: u64,
    /// Mean, median and spread.
    pub spread: PartSpread,
    /// 95 of 100 are not longer.
    pub p95_ns: u64,
}

/// How much work was launched and had not begun, weighted by time: from the first launch to the last beginning. A graph counts
/// with all its work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct LaunchQueue {
    /// On average.
    pub mean: f64,
    /// Half of the time it was not longer.
    pub median: u64,
    /// 95 of 100 parts of the time it was not longer.
    pub p95: u64,
    /// The longest.
    pub max: u64,
    /// Share of the time in which nothing waited, 0 to 1.
    pub empty_ratio: f64,
}

/// The launches of a device. O(n log n).
///
/// ```text
/// host     [a][b] [c]                 [d]
/// device      |---a---||-b-||-c-|       |-d-|
/// queue    1  1 2  2   1    0         1 0          delay of b: from its call to its beginning
/// ```
pub fn launches(trace: &Trace, timeline: &DeviceTimeline, gaps: &IdleGaps) -> Launches {
    let mut by_call: Vec<(u32, u64)> = Vec::new();
    let mut moments: Vec<(u64, i64)> = Vec::new();
    let mut n_before_launch = 0;
    for work in &timeline.work {
        let Some(call) = work.launch else { continue };
        let launched_ns = trace.rows.start_of(call);
        n_before_launch += u64::from(work.start_ns < launched_ns);
        by_call.push((call, work.start_ns));
        // What begins at the moment of its launch was never waiting.
        if launched_ns < work.start_ns {
            moments.push((launched_ns, 1));
            moments.push((work.start_ns, -1));
        } else {
            moments.push((work.start_ns, 0));
        }
    }
    by_call.sort_unstable();
    let n_kernels = timeline.work.iter().filter(|work| work.kind.is_kernel()).count() as u64;
    let span_ns = timeline.span().length_ns();
    Launches {
        calls: calls(trace, &by_call),
        delay: delay(&by_call, |call| trace.rows.start_of(call)),
        delay_after_call: delay(&by_call, |call| trace.rows.end_ns(call)),
        n_before_launch,
        before_launch_ns: timeline.before_launch(trace).max(),
        n_without_launch: (timeline.work.len() - by_call.len()) as u64,
        queue: queue(moments),
        kernels_per_second: (span_ns > 0).then(|| float(n_kernels) / (float(span_ns) / 1e9)),
        launch_bound_ratio: gaps.ratio_of(GapReason::LaunchBound),
    }
}

/// Calls by name, of call and beginning of what it launched, in order.
fn calls(trace: &Trace, by_call: &[(u32, u64)]) -> Vec<LaunchCall> {
    let by_name = by_call.chunk_by(|a, b| a.0 == b.0).filter_map(|work| {
        let call = work.first()?.0;
        Some((trace.name_of(call), [1, trace.rows.duration_of(call), work.len() as u64]))
    });
    let row = |(name, [count, host_ns, n_ops]): (&str, [u64; 3])| LaunchCall {
        name: name.to_owned(),
        count,
        host_ns,
        n_ops,
    };
    let mut calls: Vec<LaunchCall> = sums_by(by_name).into_iter().map(row).collect();
    // A stable sort: of equals the first by name.
    calls.sort_by_key(|call| std::cmp::Reverse(call.host_ns));
    calls
}

/// From a moment of each call to the first that it launched.
fn delay(by_call: &[(u32, u64)], moment: impl Fn(u32) -> u64) -> Option<LaunchDelay> {
    let by_call = by_call.chunk_by(|a, b| a.0 == b.0);
    let firsts = by_call.filter_map(|work| work.first());
    let delays = firsts.filter_map(|(call, start_ns)| start_ns.checked_sub(moment(*call)));
    let mut delays: Vec<u64> = delays.collect();
    delays.sort_unstable();
    Some(LaunchDelay {
        count: delays.len() as u64,
        p95_ns: percentile(&delays, 0.95)?,
        spread: PartSpread::of(delays)?,
    })
}

/// The queue over time, of moments at which it grows or shrinks.
fn queue(mut moments: Vec<(u64, i64)>) -> Option<LaunchQueue> {
    moments.sort_unstable();
    let mut at_length = BTreeMap::<i64, u64>::new();
    let mut length = 0;
    let pairs = moments.iter().zip(moments.iter().skip(1));
    for ((at_ns, change), (next_ns, _)) in pairs {
        length += change;
        *at_length.entry(length).or_default() += next_ns - at_ns;
    }
    at_length.retain(|_, time_ns| *time_ns > 0);
    let all_ns: u64 = sum(at_length.values().copied());
    if all_ns == 0 {
        return None;
    }
    let lengths = || at_length.iter().map(|(length, ns)| (length.unsigned_abs(), *ns));
    let weighted: f64 = lengths().map(|(length, ns)| float(length) * float(ns)).sum();
    let not_longer = |share: f64| {
        let mut passed_ns = 0_u64;
        let mut lengths = lengths();
        let found = lengths.find(|(_, ns)| {
            passed_ns = passed_ns.saturating_add(*ns);
            float(passed_ns) >= share * float(all_ns)
        });
        found.map(|(length, _)| length)
    };
    Some(LaunchQueue {
        mean: weighted / float(all_ns),
        median: not_longer(0.5)?,
        p95: not_longer(0.95)?,
        max: lengths().map(|(length, _)| length).max()?,
        empty_ratio: float(at_length.get(&0).copied().unwrap_or_default()) / float(all_ns),
    })
}
