//! The note of a row: how its time is made up of calls, steps or waits.

use marey::profiling_config::SectionKind;
use marey_analysis::{CallStats, Kind, SectionRow, StepSource};

use super::account_rows::is_waiting;
use super::amount::{like, time, time_ns};
use crate::model::{Report, StatusKind};
use crate::quantity::{counted, float};

/// From so many calls on the 95th percentile says something.
const MANY: u64 = 10;
/// A first call is shown apart from this ratio on.
const FIRST: f64 = 1.5;
/// From this ratio of the longest to the shortest call on a mean says little.
const SPREAD: f64 = 3.0;
/// Calls that overlap take longer than they hold the run up; more than this much, their sum is no account of it.
const OVERLAP: f64 = 1.05;

/// How a row's time is made up.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// So many times so long.
    Calls {
        /// How many.
        n: u64,
        /// What they are: `steps`, `calls`.
        of: Word,
        /// Mean; without the first where that is shown apart.
        mean_ns: f64,
        /// The first, where it took much longer or shorter.
        first_ns: Option<u64>,
        /// 95 % took no longer; `None` of few, and beside a first that is shown apart.
        p95_ns: Option<u64>,
    },
    /// Calls that differ too much for a mean.
    Range {
        /// How many.
        n: u64,
        /// The shortest.
        min_ns: u64,
        /// The longest.
        max_ns: u64,
    },
    /// Steps of which a cache answered some.
    Cached {
        /// All of them.
        n: u64,
        /// Those that a cache answered.
        n_cached: u64,
        /// The cache; `None` where there are several.
        cache: Option<String>,
    },
    /// What is left of so many calls outside of what is within them.
    Outside {
        /// How many.
        n: u64,
        /// What they are.
        of: Word,
        /// What is within them.
        within: Word,
    },
    /// How often a request waited.
    Waits {
        /// Waits of a request, in the mean.
        per_request: f64,
    },
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Blocks of frames.
    Blocks,
    /// Denoising steps.
    Steps,
    /// Turns of another loop.
    Turns,
    /// Passes that fill the KV cache.
    Passes,
    /// Calls of anything else.
    Calls,
    /// Other sections.
    Sections,
}

impl Word {
    pub(super) fn of(self, n: u64) -> &'static str {
        let (one, several) = match self {
            Self::Blocks => ("block", "blocks"),
            Self::Steps => ("step", "steps"),
            Self::Turns => ("turn", "turns"),
            Self::Passes => ("pass", "passes"),
            Self::Calls => ("call", "calls"),
            Self::Sections => ("section", "sections"),
        };
        if n == 1 { one } else { several }
    }
}

/// Calls of some nodes together.
struct Calls {
    n: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
    first_ns: Option<u64>,
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
        let turns: Vec<&SectionRow> = rows().flat_map(|row| turns_of(report, row)).collect();
        let own = Calls::of(report, rows());
        if is_rest {
            let own = own.filter(|calls| calls.n > 1)?;
            return Some(Self::Outside {
                n: own.n,
                of: call_word(report, rows().next()?),
                within: turns.first().map_or(Word::Sections, |row| word(row)),
            });
        }
        if rows().all(|row| is_waiting(&row.name)) && n_requests > 1 {
            let per_request = float(own?.n) / float(n_requests);
            return Some(Self::Waits { per_request });
        }
        let steps = Calls::of(report, turns.iter().copied());
        let Some(steps) = steps else {
            return Self::of_calls(
                &own?,
                call_word(report, rows().next()?),
                held_ns,
                n_requests,
            );
        };
        let word = word(turns.first()?);
        let caching = report.activity.diffusion.as_ref()?.caching.as_ref();
        let caching = caching.filter(|found| {
            word == Word::Steps
                && found.n_cached > 0
                && found.n_cached + found.n_computed == steps.n
        });
        if let Some(found) = caching {
            let caches = report.activity.caches.as_ref();
            let only = caches.and_then(|caches| match caches.each.as_slice() {
                [only] => Some(only.name.clone()),
                _ => None,
            });
            return Some(Self::Cached {
                n: steps.n,
                n_cached: found.n_cached,
                cache: only,
            });
        }
        Self::of_calls(&steps, word, held_ns, n_requests)
    }

    /// `None` of one call, which is all of its row.
    fn of_calls(calls: &Calls, of: Word, held_ns: u64, n_requests: u64) -> Option<Self> {
        let n = calls.n / n_requests.max(1);
        let is_its_own = float(calls.total_ns) <= float(held_ns) * OVERLAP;
        if !is_its_own || calls.n < 2 {
            return None;
        }
        let is_spread = float(calls.max_ns) > SPREAD * float(calls.min_ns.max(1));
        let rest_ns = calls
            .first_ns
            .filter(|_| calls.n > 2)
            .map(|first_ns| float(calls.total_ns.saturating_sub(first_ns)) / float(calls.n - 1));
        let first = calls.first_ns.zip(rest_ns).filter(|(first_ns, rest_ns)| {
            let ratio = float(*first_ns) / rest_ns.max(1.0);
            ratio >= FIRST || ratio <= 1.0 / FIRST
        });
        if is_spread && of != Word::Steps && first.is_none() {
            let (min_ns, max_ns) = (calls.min_ns, calls.max_ns);
            return Some(Self::Range { n, min_ns, max_ns });
        }
        if n < 2 || (n_requests > 1 && !calls.n.is_multiple_of(n_requests)) {
            return None;
        }
        let (first_ns, mean_ns) = match first {
            Some((first_ns, rest_ns)) if n_requests == 1 => (Some(first_ns), rest_ns),
            _ => (None, float(calls.total_ns) / float(calls.n)),
        };
        Some(Self::Calls {
            n,
            of,
            mean_ns,
            first_ns,
            p95_ns: calls.p95_ns.filter(|_| first_ns.is_none() && n >= MANY),
        })
    }

    /// In words: `12 steps × 241 ms (p95 290)`.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Calls {
                n,
                of,
                mean_ns,
                first_ns,
                p95_ns,
            } => {
                let said = [("first", first_ns), ("p95", p95_ns)].into_iter();
                let said = said.filter_map(|(what, ns)| {
                    let ns = float((*ns)?);
                    Some(format!(" ({what} {})", like(ns, *mean_ns)))
                });
                let said: String = said.collect();
                format!("{n} {} × {}{said}", of.of(*n), time(*mean_ns))
            }
            Self::Range {
                n: 1,
                min_ns,
                max_ns,
            } => {
                format!("{} to {}", time_ns(*min_ns), time_ns(*max_ns))
            }
            Self::Range { n, min_ns, max_ns } => {
                format!("{n} calls, {} to {}", time_ns(*min_ns), time_ns(*max_ns))
            }
            Self::Cached { n, n_cached, cache } => {
                let cache = cache.as_deref().unwrap_or("caches");
                format!(
                    "{}, {n_cached} served by {cache}",
                    counted(*n, "step", "steps")
                )
            }
            Self::Outside { n, of, within } => {
                format!("{n} {}, outside their {}", of.of(*n), within.of(2))
            }
            Self::Waits { per_request } if (per_request - 1.0).abs() < 0.05 => {
                "1 wait a request".into()
            }
            Self::Waits { per_request } => {
                let whole = (per_request - per_request.round()).abs() < 0.05;
                let decimals = usize::from(!whole);
                format!("{per_request:.decimals$} waits a request")
            }
        }
    }
}

/// The loops right below a row, or the row itself where it is one.
fn turns_of<'a>(report: &'a Report, row: &'a SectionRow) -> Vec<&'a SectionRow> {
    if row.kind == Kind::Iteration {
        return vec![row];
    }
    let is_below = |found: &&SectionRow| found.parent == Some(row.node);
    let below = report.sections.tree.iter().filter(is_below);
    below
        .filter(|found| found.kind == Kind::Iteration)
        .collect()
}

fn word(row: &SectionRow) -> Word {
    let is_step = row.name.to_lowercase().contains("step");
    if is_step { Word::Steps } else { Word::Turns }
}

fn call_word(report: &Report, row: &SectionRow) -> Word {
    let found = report.activity.diffusion.as_ref();
    let passes = found.and_then(|found| found.clean_passes.as_ref());
    if passes.is_some_and(|passes| passes.name == row.name) {
        return Word::Passes;
    }
    let steps = found.and_then(|found| found.steps.as_ref());
    let source = steps.map(|steps| &steps.source);
    if let Some(StepSource::Sections(name)) = source
        && *name == row.name
    {
        return Word::Steps;
    }
    match SectionKind::of(&row.name) {
        Some(SectionKind::BlockComputation) => Word::Blocks,
        _ => Word::Calls,
    }
}

impl Calls {
    /// `None` without a completed call. The one in which the run failed is none.
    fn of<'a>(report: &Report, rows: impl Iterator<Item = &'a SectionRow>) -> Option<Self> {
        let mut sum: Option<Self> = None;
        for row in rows {
            let Some(one) = Self::of_row(report, &row.calls) else {
                continue;
            };
            sum = Some(match sum {
                None => one,
                Some(sum) => Self {
                    n: sum.n + one.n,
                    total_ns: sum.total_ns.saturating_add(one.total_ns),
                    min_ns: sum.min_ns.min(one.min_ns),
                    max_ns: sum.max_ns.max(one.max_ns),
                    first_ns: None,
                    p95_ns: None,
                },
            });
        }
        sum
    }

    fn of_row(report: &Report, calls: &CallStats) -> Option<Self> {
        let has_failed = matches!(
            report.status.kind,
            StatusKind::Failed | StatusKind::OutOfMemory
        );
        let failed_ns = calls.last_ns.filter(|_| has_failed && calls.errors == 1);
        let n = calls.count - u64::from(failed_ns.is_some());
        let total_ns = calls.total_ns - failed_ns.unwrap_or(0);
        let min_ns = calls.min_ns.filter(|min_ns| Some(*min_ns) != failed_ns);
        (n > 0).then(|| Self {
            n,
            total_ns,
            min_ns: min_ns.unwrap_or(total_ns / n),
            max_ns: calls.max_ns.unwrap_or(0),
            first_ns: calls.first_ns,
            p95_ns: calls.percentiles.map(|found| found.p95_ns),
        })
    }
}
