//! When did a device have nothing to do, and why?

use std::cmp::Reverse;

use serde::Serialize;

use super::TraceContext;
use super::device_timeline::DeviceTimeline;
use super::gap_explanation::{GapEnds, GapPart, GapReasons};
use crate::import::chrome::Trace;
use crate::intervals::Interval;
use crate::stats::{float, sums_by};

/// Why a device had nothing to do. A gap is split where what came next was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapCause {
    /// Until the launch: the host was late.
    LaunchLate,
    /// After it: the work waited for other work, or for the device.
    LaunchedBefore,
    /// The trace does not say which call it was, lacks work that was launched, or its clocks of host and device differ by more than
    /// the gap is long.
    NotKnown,
}

/// Why a device had nothing to do. Each is part of one [`GapCause`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The host was late, and was in operators or in calls: it cannot launch faster.
    LaunchBound,
    /// The host was late, and waited for a device in a call.
    Synchronising,
    /// The host was late, and loaded, read or moved data.
    Data,
    /// The host was late, and the trace has no operator and no call: Python, or nothing that is recorded.
    Python,
    /// Launched, shortly before it began: as long as launches take.
    LaunchLatency,
    /// Launched; it waited for another stream.
    OtherStream,
    /// Launched; a short pause between work that was waiting already.
    ShortPause,
    /// Launched, long before; it waited for something that the trace does not show.
    Dependency,
    /// The trace does not say when it was launched.
    NotKnown,
    /// The trace lacks work that was launched for this time: the device may have worked.
    WorkMissing,
}

impl GapReason {
    /// The cause that it is part of.
    pub fn cause(self) -> GapCause {
        match self {
            Self::LaunchBound | Self::Synchronising | Self::Data | Self::Python => {
                GapCause::LaunchLate
            }
            Self::NotKnown | Self::WorkMissing => GapCause::NotKnown,
            _ => GapCause::LaunchedBefore,
        }
    }
}

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
    /// By cause. A gap in which the host was late for a part is one of two of them.
    pub causes: Vec<CauseTime>,
    /// By cause in more detail: those of one cause come to it.
    pub reasons: Vec<ReasonTime>,
    /// Time before late launches in which a call that waits for a device ended or went on, and up to 10 µs after each such launch,
    /// without gaps in which the host loaded data: what waiting may be to blame for. What has no launch counts, too.
    pub waiting_ns: u64,
    /// Time in which the host was late, by what it did for more than half of that in each gap; the one with most time first.
    pub host_operations: Vec<HostOperation>,
    /// The longest first; of equals the first.
    pub longest: Vec<Gap>,
}

impl IdleGaps {
    /// Time that has one reason.
    pub fn total_of(&self, reason: GapReason) -> u64 {
        let found = self.reasons.iter().find(|time| time.reason == reason);
        found.map_or(0, |time| time.total_ns)
    }

    /// Its share of all idle time, 0 to 1; `None` when there is none.
    pub fn ratio_of(&self, reason: GapReason) -> Option<f64> {
        (self.total_ns > 0).then(|| float(self.total_of(reason)) / float(self.total_ns))
    }
}

/// Time of gaps that has one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CauseTime {
    /// Which.
    pub cause: GapCause,
    /// In how many gaps.
    pub n_gaps: u64,
    /// In all of them together.
    pub total_ns: u64,
    /// Share of all idle time, 0 to 1; `None` when there is none.
    pub ratio: Option<f64>,
}

/// Time of gaps that has one reason.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReasonTime {
    /// Which.
    pub reason: GapReason,
    /// What it is part of.
    pub cause: GapCause,
    /// In how many gaps.
    pub n_gaps: u64,
    /// In all of them together.
    pub total_ns: u64,
    /// Share of all idle time, 0 to 1; `None` when there is none.
    pub ratio: Option<f64>,
}

/// Time before late launches in which the host did one thing.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HostOperation {
    /// An operator, a range, a Python function, a call that waits; `None` when the trace has nothing for most of the time.
    pub name: Option<String>,
    /// Why the host was late: one thing may be done for several reasons.
    pub reason: GapReason,
    /// In how many gaps.
    pub n_gaps: u64,
    /// In all of them together.
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
    /// How much of it was until the launch of what came next: the host's. `None` when that is not known.
    pub late_ns: Option<u64>,
    /// Why, of the longer part of it.
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

/// The gaps of a device, each split at the launch of what came next. Work of no duration ends a gap, too.
///
/// ```text
/// host     [launch a]      [launch b][launch c]
/// device          |--a--|      ╎ |--b--| |--c--|
///                       ╰─late─╯─╯     ╰─╯ launched
/// ```
pub fn idle_gaps(context: &TraceContext<'_>, timeline: &DeviceTimeline) -> IdleGaps {
    let mut reasons = GapReasons::new(context, timeline);
    let mut gaps = found(timeline);
    let total_ns = gaps.iter().map(|gap| gap.time.length_ns()).sum();
    let n_over = |limit_ns| {
        let over = gaps.iter().filter(|gap| gap.time.length_ns() > limit_ns);
        over.count() as u64
    };
    let (n_gaps, n_over_10us, n_over_100us) = (gaps.len() as u64, n_over(10_000), n_over(100_000));
    let mut parts = Vec::new();
    let mut waiting_ns = 0_u64;
    for gap in &gaps {
        let from = parts.len();
        parts.extend(reasons.parts(gap));
        let of_gap = parts.get(from..).unwrap_or_default();
        waiting_ns = waiting_ns.saturating_add(reasons.waiting_ns(gap, of_gap));
    }
    gaps.sort_unstable_by_key(|gap| (Reverse(gap.time.length_ns()), gap.time.start_ns));
    gaps.truncate(MOST_SHOWN);
    let shown = gaps.iter().map(|gap| shown(context.trace, &mut reasons, gap));
    IdleGaps {
        n_gaps,
        total_ns,
        n_over_10us,
        n_over_100us,
        causes: causes(&parts, total_ns),
        reasons: reasons_of(&parts, total_ns),
        waiting_ns,
        host_operations: host_operations(context.trace, &parts, total_ns),
        longest: shown.collect(),
    }
}

/// All gaps, in order.
fn found(timeline: &DeviceTimeline) -> Vec<GapEnds> {
    let mut gaps = Vec::new();
    let mut stream_before = None;
    let mut busy_until_ns = timeline.span().start_ns;
    for work in &timeline.work {
        if work.start_ns > busy_until_ns {
            gaps.push(GapEnds {
                time: Interval { start_ns: busy_until_ns, end_ns: work.start_ns },
                stream_before,
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

/// Number, time and share of parts by something, in its order.
fn sums<K: Ord>(
    parts: impl Iterator<Item = (K, u64)>,
    idle_ns: u64,
) -> impl Iterator<Item = (K, u64, u64, Option<f64>)> {
    let sums = sums_by(parts.map(|(key, length_ns)| (key, [1, length_ns])));
    let share = move |total_ns| (idle_ns > 0).then(|| float(total_ns) / float(idle_ns));
    sums.into_iter().map(move |(key, [count, total_ns])| (key, count, total_ns, share(total_ns)))
}

fn causes(parts: &[GapPart], idle_ns: u64) -> Vec<CauseTime> {
    let by_cause = parts.iter().map(|part| (part.reason.cause(), part.length_ns));
    let row = |(cause, n_gaps, total_ns, ratio)| CauseTime { cause, n_gaps, total_ns, ratio };
    sums(by_cause, idle_ns).map(row).collect()
}

fn reasons_of(parts: &[GapPart], idle_ns: u64) -> Vec<ReasonTime> {
    let by_reason = parts.iter().map(|part| (part.reason, part.length_ns));
    let row = |(reason, n_gaps, total_ns, ratio): (GapReason, _, _, _)| ReasonTime {
        reason,
        cause: reason.cause(),
        n_gaps,
        total_ns,
        ratio,
    };
    sums(by_reason, idle_ns).map(row).collect()
}

/// What the host did while it was late, by its name and the reason.
fn host_operations(trace: &Trace, parts: &[GapPart], idle_ns: u64) -> Vec<HostOperation> {
    let late = parts.iter().filter(|part| part.reason.cause() == GapCause::LaunchLate);
    let by_name = late.map(|part| {
        let name = part.doing.map(|row| trace.name_of(row));
        ((name, part.reason), part.length_ns)
    });
    let row = |((name, reason), n_gaps, total_ns, ratio): ((Option<&str>, _), _, _, _)| {
        HostOperation { name: name.map(str::to_owned), reason, n_gaps, total_ns, ratio }
    };
    let mut all: Vec<_> = sums(by_name, idle_ns).map(row).collect();
    // A stable sort: of equals the first by name.
    all.sort_by_key(|one| Reverse(one.total_ns));
    all
}

fn shown(trace: &Trace, reasons: &mut GapReasons<'_>, gap: &GapEnds) -> Gap {
    let name = |row: u32| trace.name_of(row).to_owned();
    let [at_start, during] = reasons.host_in(gap);
    // Of equals the first, which is the host's.
    let parts = reasons.parts(gap);
    let longer = parts.reduce(|a, b| if b.length_ns > a.length_ns { b } else { a });
    let reason = longer.map_or(GapReason::NotKnown, |part| part.reason);
    Gap {
        start_ns: gap.time.start_ns,
        length_ns: gap.time.length_ns(),
        late_ns: reasons.split(gap).map(|(_, late, _)| late.length_ns()),
        cause: reason.cause(),
        reason,
        host_at_start: at_start.map(name),
        host_during: during.map(name),
        next: trace.names.get(gap.next.name).to_owned(),
        synchronising_ns: (!trace.calls.is_empty()).then(|| reasons.synchronising_ns(gap)),
    }
}
