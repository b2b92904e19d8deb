//! What `HolisticTraceAnalysis` 0.5.0 says of a trace, for those who compare with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::import::chrome::{Identifier, Trace};

/// Figures of one rank by the definitions of HTA 0.5.0, not by ours: all devices of a document together, the last step
/// left out, each piece of work shortened to whole microseconds, and whatever has a stream taken for work: synchronisations on the
/// rows of devices, operators of the host.
///
/// What shortening leaves less than nothing of counts as that, which adds to the idle time. Where HTA ends in an assertion because
/// of it, figures below zero are 0 here.
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

/// What HTA takes for a kernel. Times are microseconds in floats, as HTA has them: their rounding is part of its figures.
#[derive(Clone, Copy)]
struct Kernel {
    span: Span,
    stream: i64,
    kind: Kind,
    /// When the call began that launched it. Where the trace has none, HTA takes the first event of the file for it.
    launched: Option<f64>,
    /// The rest (synchronisations, operators) is in all figures but the idle time of streams.
    is_work: bool,
}

/// From when to when. HTA's may end before it begins.
#[derive(Clone, Copy)]
struct Span {
    start: f64,
    end: f64,
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
    let calls = trace.calls.iter().filter_map(|call| {
        let correlation = call.correlation.filter(|number| *number >= 0)?;
        Some(((trace.document_of(call.row), correlation), call.row))
    });
    let calls: BTreeMap<(u32, i64), u32> = calls.collect();
    let limits = last_steps(trace, clock);
    let first = first_event(trace).map(|row| clock.span(trace, row).start);
    let mut by_document: BTreeMap<u32, Vec<Kernel>> = BTreeMap::new();
    for (row, stream, correlation) in with_stream(trace) {
        let document = trace.document_of(row);
        let span = clock.span(trace, row);
        let correlation = correlation.filter(|number| *number >= 0);
        let call = correlation.and_then(|number| calls.get(&(document, number)));
        let launched = call.map(|call| clock.span(trace, *call).start);
        // Without a number that ties it to a call a row is one of the host to HTA, which begins by itself.
        let begun = match correlation {
            Some(_) => launched,
            None => Some(span.start),
        };
        let first = first.filter(|_| correlation.is_some() && document == 0);
        let limit = limits.get(&document);
        if limit.is_some_and(|limit| begun.is_none_or(|begun| begun >= *limit)) {
            continue;
        }
        by_document.entry(document).or_default().push(Kernel {
            span,
            stream,
            kind: kind_of(trace.name_of(row)),
            launched: launched.or(first),
            is_work: is_work(trace, row),
        });
    }
    let answers = by_document.into_iter();
    answers
        .filter_map(|(document, kernels)| answer(document, kernels))
        .collect()
}

/// Rows that say a stream, in the order of the file, with what ties them to a call.
fn with_stream(trace: &Trace) -> Vec<(u32, i64, Option<i64>)> {
    let work = trace.work.iter().filter_map(|work| match work.stream {
        Identifier::Number(-1) => None,
        Identifier::Number(stream) => Some((work.row, stream, work.correlation)),
        _ => None,
    });
    let others = trace.streams.iter();
    let others = others.map(|of| (of.row, of.stream, of.correlation));
    let mut rows: Vec<_> = work.chain(others).collect();
    rows.sort_unstable_by_key(|(row, ..)| *row);
    rows
}

/// The first event of the file, where HTA keeps it.
fn first_event(trace: &Trace) -> Option<u32> {
    (trace.begins_with_row && category_of(trace, 0) != "Trace").then_some(0)
}

fn is_work(trace: &Trace, row: u32) -> bool {
    trace.class_of(row).is_device_work() || category_of(trace, row) == "mtia_ccp_events"
}

fn category_of(trace: &Trace, row: u32) -> &str {
    let category = trace.rows.category.get(row as usize).copied();
    category.map_or("", |category| trace.categories.name(category))
}

/// HTA's times: towards the inside, to whole microseconds, if any beginning has a fraction.
#[derive(Clone, Copy)]
struct Clock {
    /// Nanoseconds of the trace's own clock.
    first_ns: i64,
    /// Microseconds that are taken off.
    origin: f64,
    is_rounding: bool,
}

impl Clock {
    fn new(trace: &Trace, no_rounding: bool) -> Self {
        let first_ns = trace.first_ns.unwrap_or_default();
        let mut starts = trace.rows.start_ns.iter();
        let has_fraction =
            starts.any(|start_ns| first_ns.saturating_add_unsigned(*start_ns) % 1_000 != 0);
        let is_rounding = has_fraction && !no_rounding;
        let origin = microseconds(first_ns);
        Self {
            first_ns,
            origin: if is_rounding { origin.ceil() } else { origin },
            is_rounding,
        }
    }

    fn span(self, trace: &Trace, row: u32) -> Span {
        let start_ns = self
            .first_ns
            .saturating_add_unsigned(trace.rows.start_of(row));
        let start = microseconds(start_ns);
        let length = microseconds(trace.rows.duration_of(row).cast_signed());
        if self.is_rounding {
            return Span {
                start: start.ceil() - self.origin,
                end: (start + length).floor() - self.origin,
            };
        }
        let start = start - self.origin;
        Span {
            start,
            end: start + length,
        }
    }
}

/// The nearest float, as if it were read from the text of the trace.
fn microseconds(ns: i64) -> f64 {
    format!("{ns}e-3").parse().unwrap_or_default()
}

/// Back to whole nanoseconds; 0 for what is below that.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats saturate"
)]
fn nanoseconds(us: f64) -> u64 {
    (us * 1_000.0).round() as u64
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
    } else if ["Memcpy", "Sync"].iter().any(|part| name.contains(part)) {
        Kind::Other
    } else {
        Kind::Computation
    }
}

/// When the last step of each document began that has several: HTA leaves it out.
fn last_steps(trace: &Trace, clock: Clock) -> BTreeMap<u32, f64> {
    let is_step: Vec<bool> = trace
        .names
        .iter()
        .map(|name| name.contains("ProfilerStep"))
        .collect();
    let mut found: BTreeMap<u32, (BTreeSet<u32>, u32)> = BTreeMap::new();
    for (row, name) in (0_u32..).zip(&trace.rows.name) {
        if is_step.get(*name as usize) == Some(&true) {
            let document = trace.document_of(row);
            let (names, last) = found.entry(document).or_insert((BTreeSet::new(), row));
            names.insert(*name);
            if trace.rows.start_of(row) > trace.rows.start_of(*last) {
                *last = row;
            }
        }
    }
    let several = found.into_iter().filter(|(_, (names, _))| names.len() > 1);
    several
        .map(|(document, (_, last))| (document, clock.span(trace, last).start))
        .collect()
}

fn answer(document: u32, kernels: Vec<Kernel>) -> Option<HtaAnswers> {
    let times = |is_meant: &dyn Fn(Kind) -> bool| {
        let meant = kernels.iter().filter(|kernel| is_meant(kernel.kind));
        merged(meant.map(|kernel| kernel.span).collect())
    };
    let all = times(&|_| true);
    let kernel_time = all.last()?.end - all.first()?.start;
    let idle = kernel_time - length(&all);
    let computation = times(&|kind| kind == Kind::Computation);
    let communication = times(&|kind| kind == Kind::Communication);
    let memory = times(&|kind| kind == Kind::Memory);
    let compute = length(&computation);
    let talks = length(&communication);
    let both: f64 = slices(&[(&communication, 1), (&computation, 2)])
        .filter(|(running, _)| *running == 3)
        .map(|(_, length)| length)
        .sum();
    Some(HtaAnswers {
        document,
        kernel_time_ns: nanoseconds(kernel_time),
        idle_ns: nanoseconds(idle),
        compute_ns: nanoseconds(compute),
        non_compute_ns: nanoseconds(kernel_time - compute - idle),
        overlap_ratio: (talks > 0.0).then(|| both / talks),
        kernel_types: kernel_types(&computation, &communication, &memory),
        idle_by_stream: idle_by_stream(kernels),
    })
}

/// Those that touch as one. What ends before it begins, and touches nothing, stays so.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut merged: Vec<Span> = Vec::new();
    let mut last_end = f64::NEG_INFINITY;
    for span in spans {
        match merged.last_mut() {
            Some(group) if span.start <= last_end => group.end = group.end.max(span.end),
            _ => merged.push(span),
        }
        last_end = last_end.max(span.end);
    }
    merged
}

fn length(spans: &[Span]) -> f64 {
    spans.iter().map(|span| span.end - span.start).sum()
}

/// Times between neighbouring beginnings and ends, each with the sum of the weights of what runs then.
fn slices(groups: &[(&[Span], i64)]) -> impl Iterator<Item = (i64, f64)> + use<> {
    let of_group = |(spans, weight): &(&[Span], i64)| {
        let weight = *weight;
        let ends = |span: &Span| [(span.start, weight), (span.end, -weight)];
        spans.iter().flat_map(ends).collect::<Vec<_>>()
    };
    let mut changes: Vec<(f64, i64)> = groups.iter().flat_map(of_group).collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let next: Vec<f64> = changes.iter().skip(1).map(|(at, _)| *at).collect();
    let changes = changes.into_iter().zip(next);
    changes.scan(0, |running, ((at, weight), next)| {
        *running += weight;
        Some((*running, next - at))
    })
}

const COMPUTATION: i64 = 1;
const COMMUNICATION: i64 = 2;
const MEMORY: i64 = 4;

/// Time by the types that ran in it, each slice cut to whole microseconds.
fn kernel_types(
    computation: &[Span],
    communication: &[Span],
    memory: &[Span],
) -> Vec<HtaKernelType> {
    let groups = [
        (computation, COMPUTATION),
        (communication, COMMUNICATION),
        (memory, MEMORY),
    ];
    let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
    for (running, length) in slices(&groups).filter(|(running, _)| *running > 0) {
        *sums.entry(running).or_default() += length.trunc();
    }
    let found = sums.into_iter().filter(|(_, sum)| *sum > 0.0);
    let mut types: Vec<HtaKernelType> = found
        .map(|(running, sum)| HtaKernelType {
            kernel_type: type_name(running),
            total_ns: nanoseconds(sum),
        })
        .collect();
    types.sort_by_key(|row| std::cmp::Reverse(row.total_ns));
    types
}

fn type_name(running: i64) -> String {
    let names = [
        ("COMPUTATION", COMPUTATION),
        ("COMMUNICATION", COMMUNICATION),
        ("MEMORY", MEMORY),
    ];
    let running = names.iter().filter(|(_, weight)| running & weight != 0);
    let running: Vec<&str> = running.map(|(name, _)| *name).collect();
    running.join(" overlapping ")
}

/// Time between neighbours on each stream, in order of their beginnings.
fn idle_by_stream(mut kernels: Vec<Kernel>) -> Vec<HtaIdle> {
    kernels.retain(|kernel| kernel.is_work);
    kernels.sort_by(|a, b| {
        let by_start = a.span.start.total_cmp(&b.span.start);
        a.stream.cmp(&b.stream).then(by_start)
    });
    let mut sums: BTreeMap<(i64, HtaIdleCategory), f64> = BTreeMap::new();
    for pair in kernels.windows(2) {
        let [before, next] = pair else { continue };
        if before.stream != next.stream {
            continue;
        }
        let gap = next.span.start - before.span.end;
        let category = match next.launched {
            Some(at) if at > before.span.end => HtaIdleCategory::HostWait,
            _ if gap < KERNEL_WAIT => HtaIdleCategory::KernelWait,
            _ => HtaIdleCategory::Other,
        };
        *sums.entry((next.stream, category)).or_default() += gap;
    }
    let rows = sums.into_iter().map(|((stream, category), sum)| {
        let total_ns = nanoseconds(sum.abs()).cast_signed();
        HtaIdle {
            stream,
            category,
            total_ns: if sum < 0.0 { -total_ns } else { total_ns },
        }
    });
    rows.collect()
}

/// Gaps from this length on are no delay between kernels, in microseconds. HTA's documentation says 30 ns.
const KERNEL_WAIT: f64 = 30.0;
