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

use super::note::Note;
use crate::first_screen::{AccountRows, Facts, Part, Row};
use crate::json::object::object;
use crate::model::Report;
use crate::quantity::{Column, Unit, float, given_out, like};

/// Rows, *other* not counted.
const MOST_ROWS: usize = 7;
/// Share of the total from which on a part is a row.
const ROW: f64 = 0.01;
/// The same for phases that are known.
const KNOWN: f64 = 0.0005;
/// Share of a node from which on a loop in it says all of it: the row then has the loop's steps.
const ONLY_CHILD: f64 = 0.9;
/// Share of the total from which on a node is looked into that is no known phase.
const LARGE: f64 = 1.0 / 3.0;
/// Share of the total from which on a phase within another one is a part of its own.
const PHASE_WITHIN: f64 = 0.05;

/// Of a run's report, with how often a request is counted in it. `None` where nothing was recorded that could be a row, or where it is
/// not known what held the run up.
pub(super) fn account(report: &Report) -> Option<AccountRows> {
    let Some(requests) = &report.requests else {
        let total_ns = total_ns(report);
        let rows = Parts::new(report, report.account.as_ref()?, total_ns).rows(1);
        return AccountRows::new("wall", Unit::Time, total_ns, rows);
    };
    let n = requests.durations_ns.len() as u64;
    let sum_ns = requests.account.wall_ns;
    let rows = Parts::new(report, &requests.account, sum_ns).rows(n);
    let mut mean = AccountRows::new("mean_request", Unit::Time, sum_ns, rows)?;
    mean.total = sum_ns / n.max(1);
    let held: Vec<u64> = mean.rows.iter().map(|row| row.held).collect();
    for (row, held) in mean.rows.iter_mut().zip(given_out(mean.total, &held)) {
        row.held = held;
    }
    let durations = &requests.durations_ns;
    let beside = |ns: u64| like(float(ns), float(mean.total));
    let total = Column::of(Unit::Time, mean.total).text(mean.total);
    mean.head = Some(format!(
        "Time of a request, mean of {n}: {total} (p50 {}, max {})",
        beside(durations[durations.len().div_ceil(2) - 1]),
        beside(durations.last().copied().unwrap_or(0))
    ));
    mean.facts = Facts::of(&object! { requests: n });
    Some(mean)
}

/// Wall time of the command where its launcher saw it, else of the run.
pub(super) fn total_ns(report: &Report) -> u64 {
    let launch = report.run.launch.as_ref();
    let own = launch.filter(|launch| launch.pid == report.run.pid && report.session.is_none());
    let seen = own.and_then(|launch| launch.wall_ns).unwrap_or(0);
    seen.max(report.run.wall_ns)
}

/// Parts of an account by name.
struct Parts<'a> {
    report: &'a Report,
    account: &'a Account,
    below: HashMap<Option<usize>, Vec<usize>>,
    total: f64,
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
        let row = |(name, named): (&String, &Named)| {
            let nodes = &named.nodes;
            let note = Note::new(self.report, nodes, named.held_ns, named.is_rest, n_requests);
            let is_open = !named.is_rest && nodes.iter().any(|node| is_open(self.report, *node));
            Row {
                part: if is_waiting(name) {
                    Part::Waiting
                } else {
                    Part::Work
                },
                facts: Facts::of(&object! { open?: is_open.then_some(true) }).and(
                    &note
                        .as_ref()
                        .map(|note| note.facts.clone())
                        .unwrap_or_default(),
                ),
                note: note.map(|note| note.text),
                ..Row::new(name, named.held_ns)
            }
        };
        shown.into_iter().map(row).collect()
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
