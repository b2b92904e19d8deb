//! When did a device have nothing to do, and why?

use std::collections::BTreeMap;

use serde::Serialize;

use super::HostRows;
use super::device_timeline::{DeviceTimeline, DeviceWork};
use super::gap_explanation::{Explained, GapEnds, GapReasons};
use super::gap_reason::{GapCause, GapReason};
use crate::import::chrome::{Identifier, Trace};
use crate::intervals::Interval;
use crate::stats::float;

/// Time in which a device did nothing, between its first and its last work.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct IdleGaps {
    /// How many there are. Some devices write kernels that follow each other a nanosecond apart: most gaps are that.
    pub n_gaps: u64,
    /// All of them together.
    pub total_ns: u64,
    /// Those longer than 10 µs.
    pub n_over_10us: u64,
    /// Those longer than 100 µs.
    pub n_over_100us: u64,
    /// By cause.
    pub causes: Vec<CauseTime>,
    /// By cause in more detail: those of one cause come to it.
    pub reasons: Vec<ReasonTime>,
    /// Time in gaps for which the host was late, that the thread which was late spent in operators and calls.
    pub launch_bound_ns: u64,
    /// Gaps for which the host was late, by what it did for more than half of each; the one with most time first.
    pub host_operations: Vec<HostOperation>,
    /// The longest first; of equals the first.
    pub longest: Vec<Gap>,
}

/// Gaps of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CauseTime {
    /// Which.
    pub cause: GapCause,
    /// How many.
    pub n_gaps: u64,
    /// All of them together.
    pub total_ns: u64,
    /// Share of all idle time, 0 to 1; `None` when there is none.
    pub ratio: Option<f64>,
}

/// Gaps of one reason.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReasonTime {
    /// Which.
    pub reason: GapReason,
    /// What it is part of.
    pub cause: GapCause,
    /// How many.
    pub n_gaps: u64,
    /// All of them together.
    pub total_ns: u64,
    /// Share of all idle time, 0 to 1; `None` when there is none.
    pub ratio: Option<f64>,
}

/// Gaps in which the host did one thing.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HostOperation {
    /// An operator, a range, a Python function, a call that waits; `None` when the trace has nothing for most of the gap.
    pub name: Option<String>,
    /// Why the host was late in these gaps: one thing may be done in gaps of several reasons.
    pub reason: GapReason,
    /// How many.
    pub n_gaps: u64,
    /// All of them together.
    pub total_ns: u64,
    /// Share of all idle time, 0 to 1; `None` when there is none.
    pub ratio: Option<f64>,
}

/// A time in which a device did nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Gap {
    /// When it began, after the first event of the trace.
    pub start_ns: u64,
    /// How long it was.
    pub length_ns: u64,
    /// Why.
    pub cause: GapCause,
    /// Why, in more detail.
    pub reason: GapReason,
    /// The innermost thing that the thread which launched what came next did as the gap began; `None` when the trace has none.
    pub host_at_start: Option<String>,
    /// The innermost thing that it did for more than half of the gap, likewise.
    pub host_during: Option<String>,
    /// What came next.
    pub next: String,
    /// Time in it that host threads spent in calls that wait for the device; those of several threads add up. `None` when the trace
    /// has no calls.
    pub synchronising_ns: Option<u64>,
}

/// Gaps that are shown one by one.
const MOST_SHOWN: usize = 10;

/// The gaps of a device.
///
/// ```text
/// host     [launch a]      [launch b][launch c]
/// device          |--a--|      ╎ |--b--| |--c--|
///                       ╰─late─╯       ╰─╯ launched before
/// ```
pub fn idle_gaps(trace: &Trace, host: &HostRows, timeline: &DeviceTimeline) -> IdleGaps {
    let mut gaps = found(trace, host, timeline);
    let total_ns = gaps.iter().map(|gap| gap.length_ns).sum();
    let n_over = |limit_ns| gaps.iter().filter(|gap| gap.length_ns > limit_ns).count() as u64;
    let (n_gaps, n_over_10us, n_over_100us) = (gaps.len() as u64, n_over(10_000), n_over(100_000));
    let causes = [
        GapCause::LaunchLate,
        GapCause::LaunchedBefore,
        GapCause::NotKnown,
    ];
    let causes = causes.map(|cause| of_cause(&gaps, cause, total_ns));
    let reasons = reasons(&gaps, total_ns);
    let host_operations = host_operations(trace, &gaps, total_ns);
    let launching_ns = gaps.iter().map(|gap| gap.explained.launching_ns);
    let launch_bound_ns = launching_ns.fold(0, u64::saturating_add);
    gaps.sort_unstable_by_key(|gap| (std::cmp::Reverse(gap.length_ns), gap.start_ns));
    gaps.truncate(MOST_SHOWN);
    let has_calls = !trace.calls.is_empty() && !gaps.is_empty();
    let waits = has_calls.then(|| Synchronisations::new(trace));
    IdleGaps {
        n_gaps,
        total_ns,
        n_over_10us,
        n_over_100us,
        causes: causes.into_iter().filter(|c| c.n_gaps > 0).collect(),
        reasons,
        launch_bound_ns,
        host_operations,
        longest: gaps
            .iter()
            .map(|gap| shown(trace, gap, waits.as_ref()))
            .collect(),
    }
}

/// A gap, before its names are looked up.
struct Found {
    start_ns: u64,
    length_ns: u64,
    cause: GapCause,
    next: DeviceWork,
    explained: Explained,
}

/// All gaps, in order. Work of no duration ends a gap, too.
fn found(trace: &Trace, host: &HostRows, timeline: &DeviceTimeline) -> Vec<Found> {
    let mut gaps = Vec::new();
    let mut reasons = GapReasons::new(trace, host);
    let mut stream_before = None;
    let mut busy_until_ns = timeline.span().start_ns;
    for work in &timeline.work {
        if work.start_ns > busy_until_ns {
            let launched_ns = work.launch.map(|call| trace.rows.start_of(call));
            let stream = timeline.streams.get(work.stream as usize);
            let ends = GapEnds {
                time: Interval {
                    start_ns: busy_until_ns,
                    end_ns: work.start_ns,
                },
                stream_before,
                stream_number: match stream {
                    Some(Identifier::Number(number)) => Some(*number),
                    _ => None,
                },
                next: *work,
            };
            gaps.push(Found {
                explained: reasons.of(&ends),
                start_ns: busy_until_ns,
                length_ns: work.start_ns - busy_until_ns,
                cause: match launched_ns {
                    None => GapCause::NotKnown,
                    Some(launched_ns) if launched_ns >= busy_until_ns => GapCause::LaunchLate,
                    Some(_) => GapCause::LaunchedBefore,
                },
                next: *work,
            });
        }
        if work.end_ns >= busy_until_ns {
            busy_until_ns = work.end_ns;
            stream_before = Some(work.stream);
        }
    }
    gaps
}

fn of_cause(gaps: &[Found], cause: GapCause, idle_ns: u64) -> CauseTime {
    let of_cause = || gaps.iter().filter(|gap| gap.cause == cause);
    let total_ns: u64 = of_cause().map(|gap| gap.length_ns).sum();
    CauseTime {
        cause,
        n_gaps: of_cause().count() as u64,
        total_ns,
        ratio: (idle_ns > 0).then(|| float(total_ns) / float(idle_ns)),
    }
}

/// Gaps by reason, in the order of the reasons.
fn reasons(gaps: &[Found], idle_ns: u64) -> Vec<ReasonTime> {
    let mut by_reason = BTreeMap::<GapReason, (u64, u64)>::new();
    for gap in gaps {
        let (n_gaps, total_ns) = by_reason.entry(gap.explained.reason).or_default();
        *n_gaps += 1;
        *total_ns += gap.length_ns;
    }
    let row = |(reason, (n_gaps, total_ns)): (GapReason, (u64, u64))| ReasonTime {
        reason,
        cause: reason.cause(),
        n_gaps,
        total_ns,
        ratio: (idle_ns > 0).then(|| float(total_ns) / float(idle_ns)),
    };
    by_reason.into_iter().map(row).collect()
}

/// Gaps for which the host was late, by the name of what it did, and the reason.
fn host_operations(trace: &Trace, gaps: &[Found], idle_ns: u64) -> Vec<HostOperation> {
    let mut by_name = BTreeMap::<(Option<&str>, GapReason), (u64, u64)>::new();
    let late = gaps.iter().filter(|gap| gap.cause == GapCause::LaunchLate);
    for gap in late {
        let name = gap.explained.during.map(|row| trace.name_of(row));
        let key = (name, gap.explained.reason);
        let (n_gaps, total_ns) = by_name.entry(key).or_default();
        *n_gaps += 1;
        *total_ns += gap.length_ns;
    }
    let mut all: Vec<_> = by_name.into_iter().collect();
    all.sort_by_key(|(key, (_, total_ns))| (std::cmp::Reverse(*total_ns), *key));
    let row = |((name, reason), (n_gaps, total_ns)): ((Option<&str>, _), _)| HostOperation {
        name: name.map(str::to_owned),
        reason,
        n_gaps,
        total_ns,
        ratio: (idle_ns > 0).then(|| float(total_ns) / float(idle_ns)),
    };
    all.into_iter().map(row).collect()
}

fn shown(trace: &Trace, gap: &Found, waits: Option<&Synchronisations>) -> Gap {
    let end_ns = gap.start_ns + gap.length_ns;
    Gap {
        start_ns: gap.start_ns,
        length_ns: gap.length_ns,
        cause: gap.cause,
        reason: gap.explained.reason,
        host_at_start: gap
            .explained
            .at_start
            .map(|row| trace.name_of(row).to_owned()),
        host_during: gap
            .explained
            .during
            .map(|row| trace.name_of(row).to_owned()),
        next: trace.names.get(gap.next.name).to_owned(),
        synchronising_ns: waits.map(|waits| {
            waits
                .before(end_ns)
                .saturating_sub(waits.before(gap.start_ns))
        }),
    }
}

/// Calls that wait for the device, so that the time spent in them up to any moment is known at once.
///
/// Up to t it is Σ (t − begin) over the calls that began, less Σ (t − end) over those that ended: counts and sums of
/// sorted beginnings and ends are enough.
struct Synchronisations {
    starts: Prefix,
    ends: Prefix,
}

/// Sorted moments, with the sum of all up to each.
struct Prefix {
    moments: Vec<u64>,
    sums: Vec<u128>,
}

impl Prefix {
    fn new(mut moments: Vec<u64>) -> Self {
        moments.sort_unstable();
        let sums = moments.iter().scan(0_u128, |sum, moment| {
            *sum += u128::from(*moment);
            Some(*sum)
        });
        Self {
            sums: sums.collect(),
            moments,
        }
    }

    /// Σ (t − moment) over the moments before t.
    fn time_since(&self, t: u64) -> u128 {
        let count = self.moments.partition_point(|moment| *moment < t);
        let sum = count.checked_sub(1).and_then(|last| self.sums.get(last));
        (u128::from(t) * count as u128).saturating_sub(sum.copied().unwrap_or_default())
    }
}

impl Synchronisations {
    fn new(trace: &Trace) -> Self {
        let mut is_wait: Vec<Option<bool>> = vec![None; trace.names.len()];
        let mut waits = |row: u32| {
            let name = trace.rows.name.get(row as usize).copied();
            let name = name.unwrap_or_default();
            is_wait.get_mut(name as usize).is_some_and(|known| {
                *known.get_or_insert_with(|| trace.names.get(name).contains("Synchronize"))
            })
        };
        let calls = trace.calls.iter().map(|call| call.row);
        let rows: Vec<u32> = calls.filter(|row| waits(*row)).collect();
        Self {
            starts: Prefix::new(rows.iter().map(|row| trace.rows.start_of(*row)).collect()),
            ends: Prefix::new(rows.iter().map(|row| trace.rows.end_ns(*row)).collect()),
        }
    }

    /// Time spent in them before `t`.
    fn before(&self, t: u64) -> u64 {
        let spent = self
            .starts
            .time_since(t)
            .saturating_sub(self.ends.time_since(t));
        u64::try_from(spent).unwrap_or(u64::MAX)
    }
}
