//! Where the time went, in few rows that add up: the parts of the run, not the sections that only hold others.
//!
//! ```text
//! root
//!   load            ── a row
//!   generate        ── large, and its parts say most of it: these are rows, its own time is "generate, other"
//!     block         ── likewise
//!       denoise     ── a row: a phase that is known by its name, with its steps in the note
//!       vae_decode  ── a row
//! ```

use std::cmp::Reverse;
use std::collections::HashMap;

use marey::profiling_config::{Preparation, SectionKind, words_of_name};
use marey_analysis::{Account, AccountRow};

use super::amount::{Column, given_out};
use super::note::Note;
use crate::model::Report;
use crate::quantity::float;

/// Rows, *other* not counted.
const MOST_ROWS: usize = 7;
/// Share of the total from which on a part is a row.
const ROW: f64 = 0.01;
/// The same for phases that are known, and for *other*.
const KNOWN: f64 = 0.0005;
/// Share of a node from which on a loop in it says all of it: the row then has the loop's steps.
const ONLY_CHILD: f64 = 0.9;
/// Share of the total from which on a node is looked into that is no known phase.
const LARGE: f64 = 1.0 / 3.0;
/// Share of the total from which on a phase within another one is a part of its own.
const PHASE_WITHIN: f64 = 0.05;

/// Where the time went: rows that add up to the total.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountRows {
    /// What is given out.
    pub measure: Measure,
    /// Nanoseconds of it.
    pub total_ns: u64,
    /// The largest first, *other* last.
    pub rows: Vec<Row>,
}

/// What an account gives out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Wall time of the run.
    Wall,
    /// The time of a mean request.
    MeanRequest {
        /// How many there were.
        n: u64,
        /// Half of them took no longer.
        p50_ns: u64,
        /// The longest.
        max_ns: u64,
    },
}

/// A part of the total.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// As the user named it; not safe to print.
    pub name: String,
    /// What it held up.
    pub held_ns: u64,
    /// What it is to the run.
    pub part: Part,
    /// It had not ended when the run did.
    pub is_open: bool,
    /// Its own arithmetic.
    pub note: Option<Note>,
}

/// What a row is to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Work.
    Work,
    /// Something is waited for.
    Waiting,
    /// All else.
    Other,
}

impl AccountRows {
    /// `None` where nothing was recorded that could be a row, or where it is not known what held the run up.
    pub(super) fn new(report: &Report) -> Option<Self> {
        if let Some(requests) = &report.requests {
            let n = requests.durations_ns.len() as u64;
            let found = Parts::new(report, &requests.account, requests.account.wall_ns);
            let mut rows = found.rows(n);
            let total_ns = requests.account.wall_ns / n.max(1);
            let held: Vec<u64> = rows.iter().map(|row| row.held_ns).collect();
            for (row, held_ns) in rows.iter_mut().zip(given_out(total_ns, &held)) {
                row.held_ns = held_ns;
            }
            let durations = &requests.durations_ns;
            return has_names(&rows).then(|| Self {
                measure: Measure::MeanRequest {
                    n,
                    p50_ns: durations[durations.len().div_ceil(2) - 1],
                    max_ns: durations.last().copied().unwrap_or(0),
                },
                total_ns,
                rows,
            });
        }
        let account = report.account.as_ref()?;
        let total_ns = total_ns(report);
        let rows = Parts::new(report, account, total_ns).rows(1);
        has_names(&rows).then_some(Self {
            measure: Measure::Wall,
            total_ns,
            rows,
        })
    }

    /// What is printed of each row, in quanta of the column: it adds up to what is printed of the total.
    pub(super) fn printed(&self) -> (Column, Vec<u64>) {
        let column = Column::of(self.total_ns);
        let held: Vec<u64> = self.rows.iter().map(|row| row.held_ns).collect();
        (column, given_out(column.quanta(self.total_ns), &held))
    }

    /// The row of a name, and its time as it is printed.
    pub(super) fn row(&self, name: &str) -> Option<(&Row, u64)> {
        let at = self.rows.iter().position(|row| row.name == name)?;
        let (column, printed) = self.printed();
        Some((&self.rows[at], column.length_ns(printed[at])))
    }

    /// The same with rows below a share of the total put into *other*, and at most so many of them.
    pub(super) fn with_fewer(&self, least_ratio: f64, most: usize) -> Self {
        let least = least_ratio * float(self.total_ns);
        let is_own = |row: &&Row| row.part != Part::Other && float(row.held_ns) >= least;
        let rows: Vec<Row> = self
            .rows
            .iter()
            .filter(is_own)
            .take(most)
            .cloned()
            .collect();
        Self {
            rows: with_other(rows, self.total_ns),
            ..self.clone()
        }
    }
}

/// One row *other* is no account.
fn has_names(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.part != Part::Other)
}

/// Wall time of the command where its launcher saw it, else of the run.
pub(super) fn total_ns(report: &Report) -> u64 {
    let launch = report.run.launch.as_ref();
    let own = launch.filter(|launch| launch.pid == report.run.pid && report.session.is_none());
    let seen = own.and_then(|launch| launch.wall_ns).unwrap_or(0);
    seen.max(report.run.wall_ns)
}

/// The rows with what they leave of the total.
fn with_other(mut rows: Vec<Row>, total_ns: u64) -> Vec<Row> {
    let shown_ns: u64 = rows.iter().map(|row| row.held_ns).sum();
    let other_ns = total_ns.saturating_sub(shown_ns);
    if float(other_ns) >= KNOWN * float(total_ns) {
        rows.push(Row {
            name: "other".into(),
            held_ns: other_ns,
            part: Part::Other,
            is_open: false,
            note: None,
        });
    } else if let Some(largest) = rows.first_mut() {
        // Too little to see; rows add up all the same.
        largest.held_ns += other_ns;
    }
    rows
}

/// Parts of an account by name.
struct Parts<'a> {
    report: &'a Report,
    account: &'a Account,
    below: HashMap<Option<usize>, Vec<usize>>,
    total: f64,
    total_ns: u64,
    by_name: HashMap<String, Named>,
}

/// Everything of one name.
#[derive(Default)]
struct Named {
    held_ns: u64,
    nodes: Vec<u32>,
    /// Only the time outside of what is within it.
    is_rest: bool,
}

impl<'a> Parts<'a> {
    fn new(report: &'a Report, account: &'a Account, total_ns: u64) -> Self {
        let mut parts = Self {
            report,
            account,
            below: account.by_parent(),
            total: float(total_ns.max(1)),
            total_ns,
            by_name: HashMap::new(),
        };
        let mut waiting = parts.below(None).to_vec();
        while let Some(index) = waiting.pop() {
            let row = &account.rows[index];
            let name = parts.name(row);
            if parts.is_passed_through(index) {
                parts.add(&format!("{name}, other"), row.node, row.self_ns, true);
                waiting.extend(parts.below(Some(index)));
            } else {
                parts.add(name, row.node, row.held_ns, false);
            }
        }
        parts
    }

    fn below(&self, parent: Option<usize>) -> &[usize] {
        self.below.get(&parent).map_or(&[], Vec::as_slice)
    }

    fn name(&self, row: &AccountRow) -> &'a str {
        let found = self.report.section_row(row.node);
        found.map_or("", |row| row.name.as_str())
    }

    fn add(&mut self, name: &str, node: u32, held_ns: u64, is_rest: bool) {
        let named = self.by_name.entry(name.to_owned()).or_default();
        named.held_ns += held_ns;
        named.nodes.push(node);
        named.is_rest = is_rest;
    }

    /// Its parts say more than it does.
    fn is_passed_through(&self, index: usize) -> bool {
        let row = &self.account.rows[index];
        let below = self.below(Some(index));
        let Some(first) = below.first().map(|first| &self.account.rows[*first]) else {
            return false;
        };
        let has_within = |least: f64, is_wanted: &dyn Fn(&str) -> bool| {
            self.within(index).any(|within| {
                float(within.held_ns) >= least * self.total && is_wanted(self.name(within))
            })
        };
        let named_ns = row.held_ns - row.self_ns;
        if named_ns * 2 < row.held_ns {
            return false;
        }
        if has_within(ROW, &is_waiting) {
            return true;
        }
        if let Some(own) = phase(self.name(row)) {
            let is_other = |name: &str| phase(name).is_some_and(|other| other != own);
            return has_within(PHASE_WITHIN, &is_other);
        }
        let is_only = float(first.held_ns) >= ONLY_CHILD * float(row.held_ns);
        let is_loop = is_only && self.report.is_iteration(first.node);
        let is_of_phases = |name: &str| phase(name).is_some_and(|phase| phase != Phase::Denoise);
        if is_loop && !has_within(ROW, &is_of_phases) {
            return false;
        }
        float(row.held_ns) >= LARGE * self.total
    }

    /// Everything below a row; rows stand before what is below them.
    fn within(&self, index: usize) -> impl Iterator<Item = &AccountRow> {
        let mut waiting = self.below(Some(index)).to_vec();
        std::iter::from_fn(move || {
            let next = waiting.pop()?;
            waiting.extend(self.below(Some(next)));
            Some(&self.account.rows[next])
        })
    }

    /// The largest parts and all else, of as many requests.
    fn rows(self, n_requests: u64) -> Vec<Row> {
        let is_shown = |name: &str, named: &Named| {
            let is_known = !named.is_rest && (phase(name).is_some() || is_waiting(name));
            float(named.held_ns) >= self.total * if is_known { KNOWN } else { ROW }
        };
        let shown = self.by_name.iter();
        let mut shown: Vec<_> = shown
            .filter(|(name, named)| is_shown(name, named))
            .collect();
        shown.sort_by_key(|(name, named)| (Reverse(named.held_ns), name.as_str()));
        shown.truncate(MOST_ROWS);
        let row = |(name, named): (&String, &Named)| Row {
            note: Note::new(
                self.report,
                &named.nodes,
                named.held_ns,
                named.is_rest,
                n_requests,
            ),
            is_open: !named.is_rest && named.nodes.iter().any(|node| is_open(self.report, *node)),
            part: if is_waiting(name) {
                Part::Waiting
            } else {
                Part::Work
            },
            name: name.clone(),
            held_ns: named.held_ns,
        };
        with_other(shown.into_iter().map(row).collect(), self.total_ns)
    }
}

fn is_open(report: &Report, node: u32) -> bool {
    let row = report.section_row(node);
    row.is_some_and(|row| row.open.is_some())
}

/// The name says that something is waited for: a turn, or other ranks.
pub(super) fn is_waiting(name: &str) -> bool {
    let words = words_of_name(name);
    let has = |any_of: &[&str]| words.iter().any(|word| any_of.contains(&word.as_str()));
    let follow = |pair: &[String]| {
        let pair = [pair[0].as_str(), pair[1].as_str()];
        COLLECTIVES.contains(&pair)
    };
    has(&[
        "wait",
        "waits",
        "waiting",
        "barrier",
        "allreduce",
        "allgather",
    ]) || words.windows(2).any(follow)
}

/// Words that follow one another in names of what ranks do together.
const COLLECTIVES: [[&str; 2]; 4] = [
    ["all", "reduce"],
    ["all", "gather"],
    ["all", "to"],
    ["reduce", "scatter"],
];

/// A phase of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Prepare,
    Encode,
    Denoise,
    Decode,
    Save,
}

/// The phase that a name stands for; `None` of names that may hold several.
pub(super) fn phase(name: &str) -> Option<Phase> {
    if Preparation::of(name).is_some() {
        return Some(Phase::Prepare);
    }
    match SectionKind::of(name) {
        Some(SectionKind::TextEncoding) => return Some(Phase::Encode),
        Some(SectionKind::InferenceStep) => return Some(Phase::Denoise),
        Some(SectionKind::VaeDecode) => return Some(Phase::Decode),
        Some(SectionKind::BlockComputation) => return None,
        None => {}
    }
    let words = words_of_name(name);
    let has = |any_of: &[&str]| words.iter().any(|word| any_of.contains(&word.as_str()));
    if has(&SEVERAL) {
        return None;
    }
    let phases = [
        (
            Phase::Denoise,
            &["denoise", "denoising", "sampling", "sampler"][..],
        ),
        (
            Phase::Encode,
            &["encode", "encoding", "encoder", "tokenize"],
        ),
        (Phase::Decode, &["decode", "decoding", "decoder", "vae"]),
        (
            Phase::Save,
            &["save", "saving", "write", "writing", "export", "mux"],
        ),
    ];
    let found = phases.into_iter().find(|(_, words)| has(words));
    found.map(|(phase, _)| phase)
}

/// Words of names that stand for several phases.
const SEVERAL: [&str; 7] = [
    "and",
    "generate",
    "generation",
    "pipeline",
    "pipe",
    "run",
    "main",
];
