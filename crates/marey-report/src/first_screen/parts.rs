//! Which parts of a tree of times are worth a row: those that say where the time went, not those that only hold others.
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

use marey::profiling_config::words_of_name;
use marey_analysis::{Phase, SharedAccount, SharedRow};

use crate::quantity::float;

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

/// A node of a tree of times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeNode<'a> {
    /// As the user named it.
    pub(crate) name: &'a str,
    /// Index of the node that it is in.
    pub(crate) parent: Option<usize>,
    /// Its calls are iterations.
    pub(crate) is_iteration: bool,
    /// What it held up, with all that is in it.
    pub(crate) held_ns: u64,
    /// Without.
    pub(crate) self_ns: u64,
}

/// A part of the time: nodes of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimePart {
    /// As the user named it; of an `is_rest` with `, other` behind it.
    pub(crate) name: String,
    /// What it held up.
    pub(crate) held_ns: u64,
    /// Indices of its nodes.
    pub(crate) nodes: Vec<usize>,
    /// Only the time outside of what is within its nodes.
    pub(crate) is_rest: bool,
}

/// The parts that are worth a row of a total, the largest first. A node stands before those in it.
pub(crate) fn time_parts(nodes: &[TimeNode<'_>], total_ns: u64) -> Vec<TimePart> {
    Tree::new(nodes, total_ns).parts()
}

/// A part of the time of several runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedPart {
    /// As [`TimePart::name`].
    pub(crate) name: String,
    /// What it held each run up.
    pub(crate) of_runs: Vec<u64>,
    /// Rows of the account that it is made of.
    pub(crate) nodes: Vec<usize>,
    /// As [`TimePart::is_rest`].
    pub(crate) is_rest: bool,
}

/// The same rows as on a run's first screen, chosen for all runs together, and what they leave of the wall time of each.
pub(crate) fn shared_parts(account: &SharedAccount) -> (Vec<SharedPart>, Vec<u64>) {
    let held = account.held_ns();
    let node = |(row, held): (&SharedRow, &Vec<u64>)| (held.iter().sum(), row.self_ns.iter().sum());
    let sums: Vec<(u64, u64)> = account.rows.iter().zip(&held).map(node).collect();
    let nodes = account.rows.iter().zip(&sums).map(|(row, (held_ns, self_ns))| TimeNode {
        name: &row.name,
        parent: row.parent,
        is_iteration: row.is_iteration,
        held_ns: *held_ns,
        self_ns: *self_ns,
    });
    let nodes: Vec<TimeNode<'_>> = nodes.collect();
    let mut left = account.wall_ns.clone();
    let of_part = |part: TimePart| {
        let times = |node: &usize| {
            if part.is_rest { &account.rows[*node].self_ns } else { &held[*node] }
        };
        let mut of_runs = vec![0; left.len()];
        for times in part.nodes.iter().map(times) {
            of_runs.iter_mut().zip(times).for_each(|(sum, ns)| *sum += ns);
        }
        let rests = left.iter_mut().zip(&of_runs);
        rests.for_each(|(left, ns)| *left = left.saturating_sub(*ns));
        SharedPart { name: part.name, of_runs, nodes: part.nodes, is_rest: part.is_rest }
    };
    let parts = time_parts(&nodes, account.wall_ns.iter().sum());
    (parts.into_iter().map(of_part).collect(), left)
}

struct Tree<'a> {
    nodes: &'a [TimeNode<'a>],
    /// Nodes right within each node, the longest first, and by `None` those of the top level.
    below: HashMap<Option<usize>, Vec<usize>>,
    total: f64,
}

impl<'a> Tree<'a> {
    fn new(nodes: &'a [TimeNode<'a>], total_ns: u64) -> Self {
        let mut below: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            below.entry(node.parent).or_default().push(index);
        }
        for siblings in below.values_mut() {
            siblings.sort_by_key(|index| Reverse(nodes[*index].held_ns));
        }
        Self { nodes, below, total: float(total_ns.max(1)) }
    }

    fn parts(&self) -> Vec<TimePart> {
        let mut by_name: HashMap<String, TimePart> = HashMap::new();
        let mut add = |name: String, index: usize, held_ns: u64, is_rest: bool| {
            let part = by_name.entry(name.clone()).or_default();
            part.name = name;
            part.held_ns += held_ns;
            part.nodes.push(index);
            part.is_rest = is_rest;
        };
        let mut waiting = self.below(None).to_vec();
        while let Some(index) = waiting.pop() {
            let node = &self.nodes[index];
            if self.is_passed_through(index) {
                add(format!("{}, other", node.name), index, node.self_ns, true);
                waiting.extend(self.below(Some(index)));
            } else {
                add(node.name.to_owned(), index, node.held_ns, false);
            }
        }
        let mut parts: Vec<TimePart> = by_name.into_values().collect();
        parts.retain(|part| self.is_shown(part));
        parts.sort_by(|a, b| (Reverse(a.held_ns), &a.name).cmp(&(Reverse(b.held_ns), &b.name)));
        parts.truncate(MOST_ROWS);
        parts
    }

    fn is_shown(&self, part: &TimePart) -> bool {
        let is_known = !part.is_rest && (Phase::of(&part.name).is_some() || is_waiting(&part.name));
        float(part.held_ns) >= self.total * if is_known { KNOWN } else { ROW }
    }

    fn below(&self, parent: Option<usize>) -> &[usize] {
        self.below.get(&parent).map_or(&[], Vec::as_slice)
    }

    /// Its parts say more than it does.
    fn is_passed_through(&self, index: usize) -> bool {
        let node = &self.nodes[index];
        let Some(first) = self.below(Some(index)).first() else {
            return false;
        };
        let first = &self.nodes[*first];
        let has_within = |least: f64, is_wanted: &dyn Fn(&str) -> bool| {
            self.within(index)
                .any(|within| float(within.held_ns) >= least * self.total && is_wanted(within.name))
        };
        let named_ns = node.held_ns - node.self_ns;
        if named_ns * 2 < node.held_ns {
            return false;
        }
        if has_within(ROW, &is_waiting) {
            return true;
        }
        if let Some(own) = Phase::of(node.name) {
            let is_other = |name: &str| Phase::of(name).is_some_and(|other| other != own);
            return has_within(PHASE_WITHIN, &is_other);
        }
        let is_only = float(first.held_ns) >= ONLY_CHILD * float(node.held_ns);
        let is_of_phases =
            |name: &str| Phase::of(name).is_some_and(|phase| phase != Phase::Denoise);
        if is_only && first.is_iteration && !has_within(ROW, &is_of_phases) {
            return false;
        }
        float(node.held_ns) >= LARGE * self.total
    }

    /// Everything below a node.
    fn within(&self, index: usize) -> impl Iterator<Item = &TimeNode<'a>> {
        let mut waiting = self.below(Some(index)).to_vec();
        std::iter::from_fn(move || {
            let next = waiting.pop()?;
            waiting.extend(self.below(Some(next)));
            Some(&self.nodes[next])
        })
    }
}

/// The name says that something is waited for: a turn, or other ranks.
pub(crate) fn is_waiting(name: &str) -> bool {
    let words = words_of_name(name);
    let has = |any_of: &[&str]| words.iter().any(|word| any_of.contains(&word.as_str()));
    let follow = |pair: &[String]| {
        let pair = [pair[0].as_str(), pair[1].as_str()];
        COLLECTIVES.contains(&pair)
    };
    has(&["wait", "waits", "waiting", "barrier", "allreduce", "allgather"])
        || words.windows(2).any(follow)
}

/// Words that follow one another in names of what ranks do together.
const COLLECTIVES: [[&str; 2]; 4] =
    [["all", "reduce"], ["all", "gather"], ["all", "to"], ["reduce", "scatter"]];
