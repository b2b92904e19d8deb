//! The note of a row: how its time is made up of calls, steps or waits.

use marey::profiling_config::SectionKind;
use marey_analysis::{Kind, SectionRow, StepSource};

use crate::first_screen::RowFacts;
use crate::first_screen::brief::{in_seconds, seconds};
use crate::first_screen::parts::is_waiting;
use crate::model::{Report, StatusKind};
use crate::quantity::{counted, float, like, time, time_ns};

/// From so many calls on the 95th percentile says something.
const MANY: u64 = 10;
/// A first call is shown apart from this ratio on.
const FIRST: f64 = 1.5;
/// From this ratio of the longest to the shortest call on a mean says little.
const SPREAD: f64 = 3.0;
/// Calls that overlap take longer than they hold the run up; more than this much, their sum is no account of it.
const OVERLAP: f64 = 1.05;
/// What a call's own figure may differ from sums over calls.
const STRAY_NS: u64 = 1_000;

/// How a row's time is made up: for people, and for programs.
pub(super) struct Note {
    pub(super) text: String,
    pub(super) facts: RowFacts,
}

/// What is counted: one, and several.
type Word = [&'static str; 2];

const BLOCKS: Word = ["block", "blocks"];
/// Denoising steps.
const STEPS: Word = ["step", "steps"];
/// Of another loop.
const ITERATIONS: Word = ["iteration", "iterations"];
/// That fill the KV cache.
const PASSES: Word = ["pass", "passes"];
/// Of anything else.
const CALLS: Word = ["call", "calls"];

/// Calls of some nodes together.
struct Calls {
    n: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
    first_ns: Option<u64>,
    median_ns: Option<f64>,
    p95_ns: Option<u64>,
}

impl Note {
    /// Of the calls of these nodes, or, of an `is_rest`, of what is left of them outside of what is within.
    pub(super) fn new(
        report: &Report,
        nodes: &[u32],
        held_ns: u64,
        is_rest: bool,
        n_requests: u64,
    ) -> Option<Self> {
        let rows = || nodes.iter().filter_map(|node| report.section_row(*node));
        let loops: Vec<&SectionRow> = rows().flat_map(|row| loops_of(report, row)).collect();
        let own = Calls::of(report, rows());
        if is_rest {
            let n = own.and_then(|calls| calls.of_one(n_requests));
            let n = n.filter(|n| *n > 1)?;
            let [_, several] = call_word(report, rows().next()?);
            let within = loops.first().map_or("sections", |row| word(row)[1]);
            return Some(Self {
                text: format!("{n} {several}, outside their {within}"),
                facts: RowFacts { calls: Some(n), ..RowFacts::default() },
            });
        }
        if rows().all(|row| is_waiting(&row.name)) && n_requests > 1 {
            return Some(Self::of_waits(float(own?.n) / float(n_requests)));
        }
        let Some(steps) = Calls::of(report, loops.iter().copied()) else {
            let word = call_word(report, rows().next()?);
            return Self::of_calls(&own?, word, held_ns, n_requests);
        };
        let word = word(loops.first()?);
        let caching = report.activity.diffusion.as_ref()?.caching.as_ref();
        let caching = caching.filter(|found| {
            word == STEPS && found.n_cached > 0 && found.n_cached + found.n_computed == steps.n
        });
        match caching {
            Some(found) => Some(Self::of_cached(report, steps.n, found.n_cached)),
            None => Self::of_calls(&steps, word, held_ns, n_requests),
        }
    }

    /// How often a request waited, in the mean.
    fn of_waits(per_request: f64) -> Self {
        let is_whole = (per_request - per_request.round()).abs() < 0.05;
        let decimals = usize::from(!is_whole);
        Self {
            text: if (per_request - 1.0).abs() < 0.05 {
                "1 wait a request".into()
            } else {
                format!("{per_request:.decimals$} waits a request")
            },
            facts: RowFacts::default(),
        }
    }

    /// Steps of which a cache answered some; which one is said where there is but one.
    fn of_cached(report: &Report, n: u64, n_cached: u64) -> Self {
        let caches = report.activity.caches.as_ref();
        let cache = match caches.map(|caches| caches.each.as_slice()) {
            Some([only]) => &only.name,
            _ => "caches",
        };
        let steps = counted(n, "step", "steps");
        Self {
            text: format!("{steps}, {n_cached} served by {cache}"),
            facts: RowFacts { steps: Some(n), cached: Some(n_cached), ..RowFacts::default() },
        }
    }

    /// So many times so long: the first apart where it took much longer or shorter, from the shortest to the longest where they differ too
    /// much for a mean, of steps the median and the longest. `None` of one call, which is all of its row.
    fn of_calls(calls: &Calls, of: Word, held_ns: u64, n_requests: u64) -> Option<Self> {
        let n = calls.of_one(n_requests)?;
        let is_its_own = float(calls.total_ns) <= float(held_ns) * OVERLAP;
        if !is_its_own || calls.n < 2 {
            return None;
        }
        let (min_ns, max_ns) = (calls.min_ns, calls.max_ns);
        let is_spread = float(max_ns) > SPREAD * float(min_ns.max(1));
        let rest_ns = calls
            .first_ns
            .filter(|_| calls.n > 2)
            .map(|first_ns| float(calls.total_ns.saturating_sub(first_ns)) / float(calls.n - 1));
        let first = calls.first_ns.zip(rest_ns).filter(|(first_ns, rest_ns)| {
            let ratio = float(*first_ns) / calls.median_ns.unwrap_or(*rest_ns).max(1.0);
            ratio >= FIRST || ratio <= 1.0 / FIRST
        });
        if is_spread && of != STEPS && first.is_none() {
            let range = format!("{} to {}", time_ns(min_ns), time_ns(max_ns));
            return Some(Self {
                text: if n == 1 { range } else { format!("{n} calls, {range}") },
                facts: RowFacts {
                    calls: Some(n),
                    min_s: Some(seconds(min_ns)),
                    max_s: Some(seconds(max_ns)),
                    ..RowFacts::default()
                },
            });
        }
        if n < 2 {
            return None;
        }
        let (first_ns, mean_ns) = match first {
            Some((first_ns, rest_ns)) if n_requests == 1 => (Some(first_ns), rest_ns),
            _ => (None, float(calls.total_ns) / float(calls.n)),
        };
        let longest = calls.median_ns.filter(|median_ns| {
            is_spread && first_ns.is_none() && float(max_ns) > SPREAD * median_ns
        });
        // Below the mean it is the few calls beyond it that tell.
        let p95_ns = calls.p95_ns.filter(|p95_ns| float(*p95_ns) >= mean_ns);
        let p95_ns = p95_ns.filter(|_| first_ns.is_none() && longest.is_none() && n >= MANY);
        let each = match (first_ns, longest, p95_ns) {
            (Some(first_ns), ..) => {
                let first = like(float(first_ns), mean_ns);
                format!(": {first} + {} × {}", n - 1, time(mean_ns))
            }
            (_, Some(median_ns), _) => {
                format!(", median {}, longest {}", time(median_ns), time_ns(max_ns))
            }
            (.., Some(p95_ns)) => {
                let p95 = like(float(p95_ns), mean_ns);
                format!(" × {} (p95 {p95})", time(mean_ns))
            }
            _ => format!(" × {}", time(mean_ns)),
        };
        let (steps, others) = if of == STEPS { (Some(n), None) } else { (None, Some(n)) };
        Some(Self {
            text: counted(n, of[0], of[1]) + &each,
            facts: RowFacts {
                steps,
                calls: others,
                mean_s: Some(in_seconds(mean_ns)),
                first_s: first_ns.map(seconds),
                median_s: longest.map(in_seconds),
                max_s: longest.map(|_| seconds(max_ns)),
                p95_s: p95_ns.map(seconds),
                ..RowFacts::default()
            },
        })
    }
}

/// The loops right below a row, or the row itself where it is one.
fn loops_of<'a>(report: &'a Report, row: &'a SectionRow) -> Vec<&'a SectionRow> {
    if row.kind == Kind::Iteration {
        return vec![row];
    }
    let is_below = |found: &&SectionRow| found.parent == Some(row.node);
    let below = report.sections.tree.iter().filter(is_below);
    below.filter(|found| found.kind == Kind::Iteration).collect()
}

fn word(row: &SectionRow) -> Word {
    let is_step = row.name.to_lowercase().contains("step");
    if is_step { STEPS } else { ITERATIONS }
}

fn call_word(report: &Report, row: &SectionRow) -> Word {
    let found = report.activity.diffusion.as_ref();
    let passes = found.and_then(|found| found.clean_passes.as_ref());
    if passes.is_some_and(|passes| passes.name == row.name) {
        return PASSES;
    }
    let steps = found.and_then(|found| found.steps.as_ref());
    let source = steps.map(|steps| &steps.source);
    if let Some(StepSource::Sections(name)) = source
        && *name == row.name
    {
        return STEPS;
    }
    match SectionKind::of(&row.name) {
        Some(SectionKind::BlockComputation) => BLOCKS,
        _ => CALLS,
    }
}

impl Calls {
    /// `None` without a completed call. The one in which the run failed is none.
    fn of<'a>(report: &Report, rows: impl Iterator<Item = &'a SectionRow>) -> Option<Self> {
        let each =
            rows.filter_map(|row| Self::on_gpu(report, row).or_else(|| Self::of_row(report, row)));
        each.reduce(|sum, one| Self {
            n: sum.n + one.n,
            total_ns: sum.total_ns.saturating_add(one.total_ns),
            min_ns: sum.min_ns.min(one.min_ns),
            max_ns: sum.max_ns.max(one.max_ns),
            first_ns: None,
            median_ns: None,
            p95_ns: None,
        })
    }

    /// How many a mean request made; `None` unless each may have made as many.
    fn of_one(&self, n_requests: u64) -> Option<u64> {
        let n_requests = n_requests.max(1);
        self.n.is_multiple_of(n_requests).then(|| self.n / n_requests)
    }

    /// On the GPU, where its work took longer than the host, which was ahead of it. `None` unless all calls were measured there and none failed.
    fn on_gpu(report: &Report, row: &SectionRow) -> Option<Self> {
        let found = report.gpu_times.as_ref()?.of(row.node)?;
        let is_whole = found.n_not_measured == 0 && row.calls.errors == 0;
        let is_longer = is_whole && found.gpu.total_ns > row.calls.total_ns;
        is_longer.then_some(Self {
            n: found.gpu.count,
            total_ns: found.gpu.total_ns,
            min_ns: found.gpu.min_ns,
            max_ns: found.gpu.max_ns,
            first_ns: found.first_ns,
            median_ns: Some(float(found.gpu.p50_ns)),
            p95_ns: Some(found.gpu.p95_ns),
        })
    }

    /// Without the call in which the run failed.
    fn of_row(report: &Report, row: &SectionRow) -> Option<Self> {
        let calls = &row.calls;
        let has_failed = matches!(report.status.kind, StatusKind::Failed | StatusKind::OutOfMemory);
        let mut stopped = report.stop.iter().flat_map(|stop| &stop.path);
        let is_here = stopped.any(|at| at.node == row.node) && row.open.is_none();
        let has_failed = has_failed && is_here;
        let failed_ns = calls.last_ns.filter(|_| has_failed && calls.errors == 1);
        let n = calls.count.saturating_sub(u64::from(failed_ns.is_some()));
        // A single call strays from the sums by some nanoseconds, which are converted from ticks apart.
        let total_ns = calls.total_ns.saturating_sub(failed_ns.unwrap_or(0));
        let is_failed_one =
            |ns: u64| failed_ns.is_some_and(|failed_ns| ns.abs_diff(failed_ns) <= STRAY_NS);
        let min_ns = calls.min_ns.filter(|min_ns| !is_failed_one(*min_ns));
        (n > 0).then(|| Self {
            n,
            total_ns,
            min_ns: min_ns.unwrap_or(total_ns / n),
            max_ns: calls.max_ns.unwrap_or(0),
            first_ns: calls.first_ns,
            median_ns: calls.median_ns,
            p95_ns: calls.percentiles.map(|found| found.p95_ns),
        })
    }
}
