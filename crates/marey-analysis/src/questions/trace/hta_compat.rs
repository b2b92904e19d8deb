//! What `HolisticTraceAnalysis` 0.5.0 says of a trace, for those who compare with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::device_timeline::{DeviceWork, device_timelines};
use super::launched_work::profiler_steps;
use crate::import::chrome::{Identifier, Trace};
use crate::intervals::{Interval, common_length_ns, intersection, length_ns, union};
use crate::stats::ratio;

/// Figures of one rank by the definitions of HTA 0.5.0, not by ours: all devices of a document together, the last step
/// left out, each piece of work shortened to whole microseconds, synchronisations on the rows of devices taken for work.
///
/// Left out on purpose: operators of the host that have a stream in their arguments, which HTA takes for kernels, too. Where
/// shortening would leave less than nothing, HTA ends in an assertion; here it leaves nothing. Without rounding HTA cuts each slice
/// of its kernel types to whole microseconds; here they are whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HtaAnswers {
    /// Which document of the file: 0 for the first.
    pub document: u32,
    /// From the first beginning to the last end of what HTA takes for kernels.
    pub kernel_time_ns: u64,
    /// The part of it without any.
    pub idle_ns: u64,
    /// The part with kernels that HTA takes for computing.
    pub compute_ns: u64,
    /// The rest: `kernel_time - idle - compute`.
    pub non_compute_ns: u64,
    /// Share of the communication during which HTA sees computing, 0 to 1; `None` when it sees no communication.
    pub overlap_ratio: Option<f64>,
    /// The time by types of kernels, disjoint, the one that took most first.
    pub kernel_types: Vec<HtaKernelType>,
    /// What HTA calls idle time of a stream, by cause.
    pub idle_by_stream: Vec<HtaIdle>,
}

/// Time in which exactly these types of kernels ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HtaKernelType {
    /// As HTA writes it: `COMPUTATION overlapping COMMUNICATION`.
    pub kernel_type: String,
    /// How long.
    pub total_ns: u64,
}

/// Time between neighbours on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HtaIdle {
    /// The stream.
    pub stream: i64,
    /// What HTA takes for the cause.
    pub category: HtaIdleCategory,
    /// All of it together; neighbours that overlap count below zero.
    pub total_ns: i64,
}

/// What HTA takes for the cause of idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HtaIdleCategory {
    /// The next was launched after the end of the one before. HTA finds some more of these where launches are missing.
    HostWait,
    /// Else, less than 30 µs.
    KernelWait,
    /// Else.
    Other,
}

/// What HTA takes for a kernel.
struct Kernel {
    time: Interval,
    stream: i64,
    kind: Kind,
    launched_ns: Option<u64>,
    /// It is a synchronisation: those are in all figures but the idle time of streams.
    is_wait: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Computation,
    Communication,
    Memory,
    /// Synchronisations that say so; an event that is waited for counts as computing.
    Other,
}

/// The figures of each document that has kernels. `no_rounding` is HTA's `HTA_DISABLE_NS_ROUNDING`. O(n log n).
pub fn hta_compat(trace: &Trace, no_rounding: bool) -> Vec<HtaAnswers> {
    let clock = Clock::new(trace, no_rounding);
    let mut by_document: BTreeMap<u32, Vec<Kernel>> = BTreeMap::new();
    for timeline in device_timelines(trace) {
        let document = trace.tracks.processes.get(timeline.process as usize);
        let document = document.map_or(0, |process| process.document);
        let of_work = |work: &DeviceWork| {
            let stream = timeline.streams.get(work.stream as usize)?;
            kernel(
                trace,
                clock,
                *stream,
                (work.start_ns, work.end_ns),
                work.name,
                work.launch,
            )
        };
        let kernels = timeline.work.iter().filter_map(of_work);
        by_document.entry(document).or_default().extend(kernels);
    }
    for (document, kernel) in synchronisations(trace, clock) {
        by_document.entry(document).or_default().push(kernel);
    }
    let answers = by_document
        .into_iter()
        .filter_map(|(document, mut kernels)| {
            if let Some(limit_ns) = last_step(trace, document) {
                let limit_ns = clock.start(limit_ns);
                kernels.retain(|kernel| kernel.launched_ns.is_some_and(|at_ns| at_ns < limit_ns));
            }
            answers(document, kernels)
        });
    answers.collect()
}

/// Rounds as HTA does: towards the inside, to microseconds since the origin of the trace's own clock.
#[derive(Clone, Copy)]
struct Clock {
    /// From the last whole microsecond to the first event.
    shift_ns: u64,
    no_rounding: bool,
}

impl Clock {
    fn new(trace: &Trace, no_rounding: bool) -> Self {
        let shift_ns = trace.first_ns.unwrap_or_default().rem_euclid(1_000);
        Self {
            shift_ns: shift_ns.unsigned_abs(),
            no_rounding,
        }
    }

    fn start(self, at_ns: u64) -> u64 {
        let at_ns = at_ns.saturating_add(self.shift_ns);
        if self.no_rounding {
            at_ns
        } else {
            at_ns.div_ceil(1_000).saturating_mul(1_000)
        }
    }

    fn end(self, at_ns: u64) -> u64 {
        let at_ns = at_ns.saturating_add(self.shift_ns);
        if self.no_rounding {
            at_ns
        } else {
            at_ns / 1_000 * 1_000
        }
    }
}

fn kernel(
    trace: &Trace,
    clock: Clock,
    stream: Identifier,
    (start_ns, end_ns): (u64, u64),
    name: u32,
    launch: Option<u32>,
) -> Option<Kernel> {
    let Identifier::Number(stream @ 0..) = stream else {
        return None;
    };
    let name = trace.names.get(name);
    let start_ns = clock.start(start_ns);
    Some(Kernel {
        time: Interval {
            start_ns,
            end_ns: clock.end(end_ns).max(start_ns),
        },
        stream,
        kind: kind_of(name),
        launched_ns: launch.map(|call| clock.start(trace.rows.start_of(call))),
        is_wait: false,
    })
}

fn kind_of(name: &str) -> Kind {
    let is_communication = name
        .strip_prefix("nccl")
        .is_some_and(|rest| rest.contains("Kernel"));
    if is_communication {
        Kind::Communication
    } else if ["Memcpy", "Memset", "dma"]
        .iter()
        .any(|first| name.starts_with(first))
    {
        Kind::Memory
    } else if ["Memcpy", "Memset", "Sync"]
        .iter()
        .any(|part| name.contains(part))
    {
        Kind::Other
    } else {
        Kind::Computation
    }
}

/// Synchronisations on the rows of devices, with their documents.
fn synchronisations(trace: &Trace, clock: Clock) -> Vec<(u32, Kernel)> {
    let named: BTreeSet<i64> = trace.waits.iter().filter_map(|w| w.correlation).collect();
    let mut calls: BTreeMap<(u32, i64), u32> = BTreeMap::new();
    for call in trace.calls.iter().filter(|_| !named.is_empty()) {
        if let Some(correlation) = call.correlation.filter(|c| named.contains(c)) {
            calls.insert((trace.document_of(call.row), correlation), call.row);
        }
    }
    let found = trace.waits.iter().filter_map(|wait| {
        let document = trace.document_of(wait.row);
        let launch = wait.correlation.and_then(|c| calls.get(&(document, c)));
        let time = (trace.rows.start_of(wait.row), trace.rows.end_ns(wait.row));
        let name = trace.rows.name.get(wait.row as usize).copied()?;
        let stream = Identifier::Number(wait.stream?);
        let found = kernel(trace, clock, stream, time, name, launch.copied())?;
        let is_wait = true;
        Some((document, Kernel { is_wait, ..found }))
    });
    found.collect()
}

/// When the last step began, if there are several: HTA leaves it out.
fn last_step(trace: &Trace, document: u32) -> Option<u64> {
    let steps = profiler_steps(trace);
    let steps = steps
        .iter()
        .filter(|row| trace.document_of(**row) == document);
    let mut starts: Vec<u64> = steps.map(|row| trace.rows.start_of(*row)).collect();
    starts.sort_unstable();
    starts.last().copied().filter(|_| starts.len() > 1)
}

fn answers(document: u32, kernels: Vec<Kernel>) -> Option<HtaAnswers> {
    let times = |is_meant: &dyn Fn(&Kernel) -> bool| {
        let meant = kernels.iter().filter(|kernel| is_meant(kernel));
        union(meant.map(|kernel| kernel.time).collect())
    };
    let first_ns = kernels.iter().map(|kernel| kernel.time.start_ns).min()?;
    let last_ns = kernels.iter().map(|kernel| kernel.time.end_ns).max()?;
    let kernel_time_ns = last_ns.saturating_sub(first_ns);
    let idle_ns = kernel_time_ns.saturating_sub(length_ns(&times(&|_| true)));
    let computation = times(&|kernel| kernel.kind == Kind::Computation);
    let communication = times(&|kernel| kernel.kind == Kind::Communication);
    let memory = times(&|kernel| kernel.kind == Kind::Memory);
    let compute_ns = length_ns(&computation);
    let communication_ns = length_ns(&communication);
    let overlapped_ns = common_length_ns(&communication, &computation);
    Some(HtaAnswers {
        document,
        kernel_time_ns,
        idle_ns,
        compute_ns,
        non_compute_ns: kernel_time_ns
            .saturating_sub(idle_ns)
            .saturating_sub(compute_ns),
        overlap_ratio: (communication_ns > 0)
            .then(|| ratio(u128::from(overlapped_ns), u128::from(communication_ns))),
        kernel_types: kernel_types(&computation, &communication, &memory),
        idle_by_stream: idle_by_stream(kernels),
    })
}

/// Time by the types that ran in it; all three at once are a row of their own.
fn kernel_types(
    computation: &[Interval],
    communication: &[Interval],
    memory: &[Interval],
) -> Vec<HtaKernelType> {
    let both = common_length_ns(computation, communication);
    let computing_copying = common_length_ns(computation, memory);
    let talking_copying = common_length_ns(communication, memory);
    let all = common_length_ns(&intersection(computation, communication), memory);
    let only = |own: &[Interval], one: u64, other: u64| {
        length_ns(own)
            .saturating_add(all)
            .saturating_sub(one)
            .saturating_sub(other)
    };
    let found = [
        ("COMPUTATION", only(computation, both, computing_copying)),
        ("COMMUNICATION", only(communication, both, talking_copying)),
        ("MEMORY", only(memory, computing_copying, talking_copying)),
        ("COMPUTATION overlapping COMMUNICATION", both - all),
        ("COMPUTATION overlapping MEMORY", computing_copying - all),
        ("COMMUNICATION overlapping MEMORY", talking_copying - all),
        (
            "COMPUTATION overlapping COMMUNICATION overlapping MEMORY",
            all,
        ),
    ];
    let found = found.into_iter().filter(|(_, total_ns)| *total_ns > 0);
    let mut types: Vec<HtaKernelType> = found
        .map(|(kernel_type, total_ns)| HtaKernelType {
            kernel_type: kernel_type.to_owned(),
            total_ns,
        })
        .collect();
    types.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
    types
}

/// Time between neighbours on each stream, in order of their beginnings.
fn idle_by_stream(mut kernels: Vec<Kernel>) -> Vec<HtaIdle> {
    kernels.retain(|kernel| !kernel.is_wait);
    kernels.sort_by_key(|kernel| (kernel.stream, kernel.time));
    let mut sums: BTreeMap<(i64, HtaIdleCategory), i64> = BTreeMap::new();
    for pair in kernels.windows(2) {
        let [before, next] = pair else { continue };
        if before.stream != next.stream {
            continue;
        }
        let gap_ns = next
            .time
            .start_ns
            .cast_signed()
            .saturating_sub_unsigned(before.time.end_ns);
        let category = match next.launched_ns {
            Some(at_ns) if at_ns > before.time.end_ns => HtaIdleCategory::HostWait,
            _ if gap_ns < KERNEL_WAIT_NS => HtaIdleCategory::KernelWait,
            _ => HtaIdleCategory::Other,
        };
        let sum = sums.entry((next.stream, category)).or_default();
        *sum = sum.saturating_add(gap_ns);
    }
    let rows = sums
        .into_iter()
        .map(|((stream, category), total_ns)| HtaIdle {
            stream,
            category,
            total_ns,
        });
    rows.collect()
}

/// Gaps from this length on are no delay between kernels. HTA's documentation says 30 ns, its code 30 µs.
const KERNEL_WAIT_NS: i64 = 30_000;
