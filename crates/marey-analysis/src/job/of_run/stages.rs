//! What a process did when.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey::{NodeKind, Run, Section};

use super::calls::Known;
use crate::job::{RankSummary, StagePiece};
use crate::section_lookup::main_thread;
use crate::stats::sum;

/// What the main thread did, in order of time, as in [`RankSummary`]. Pieces do not overlap. Collectives are shown wherever they lie,
/// of other sections those of the [`levels`] that say something. Of more than [`RankSummary::MAX_PIECES`] each stretch of the time
/// shows the stage with most of it and the collective with most of it, as long as all stages and all collectives there were.
///
/// ```text
/// denoise     |----------------------|
/// all_reduce        |--|      |--|    |--|
/// pieces      |--d--|a-|--d---|a-|-d-||a-|
///
/// pieces      |d|a|e|a|d|a| |d| |a|
/// stretches   |-----|-----|-----|-----|       room for eight
/// shown       |-d--a|d-aa-| |d| |a|           equal neighbours are one
/// ```
pub(super) struct Stages {
    pub(super) pieces: Vec<StagePiece>,
    pub(super) names: Vec<String>,
    pub(super) communication_names: Vec<u32>,
}

impl Stages {
    pub(super) fn of(run: &Run, known: &Known<'_>) -> Self {
        let (names, calls) = shown_calls(run, known);
        let mut pieces = painted(calls);
        merge_equal(&mut pieces);
        if pieces.len() > RankSummary::MAX_PIECES {
            pieces = bounded(&pieces, &names);
        }
        // Names that pieces have, in order of these.
        let mut used: Vec<u32> = Vec::new();
        for piece in &mut pieces {
            let known = used.iter().position(|name| *name == piece.name);
            let number = known.unwrap_or_else(|| {
                used.push(piece.name);
                used.len() - 1
            });
            piece.name = u32::try_from(number).unwrap_or(u32::MAX);
        }
        let used = || used.iter().map(|name| names[*name as usize]);
        let communication =
            (0..).zip(used()).filter(|(_, (is_communication, _))| *is_communication);
        Self {
            pieces,
            communication_names: communication.map(|(number, _)| number).collect(),
            names: used().map(|(_, name)| name.to_owned()).collect(),
        }
    }
}

/// A name, and whether it is a collective's: a collective and a stage of one name are two.
type Name<'a> = (bool, &'a str);

/// Calls that are shown, each of which hides those that it lies in, and their names.
fn shown_calls<'a>(run: &'a Run, known: &Known<'_>) -> (Vec<Name<'a>>, Vec<StagePiece>) {
    let thread = main_thread(run);
    // Sections are in order of their threads.
    let first = run.sections.partition_point(|s| s.thread < thread);
    let own = run.sections[first..].iter();
    let own = own.take_while(|section| section.thread == thread && section.node != u32::MAX);
    let own = own.filter(|section| section.flow == 0);
    let call = |section: &Section| (section.node, section.start_ns, section.end_ns);
    let open = run.open.iter().filter(|open| open.thread == Some(thread));
    let open = open.map(|open| (open.node, open.start_ns, open.end_ns(run.wall_ns)));
    let calls = own.map(call).chain(open);

    let levels = levels(run, known, calls.clone());
    let mut names: Vec<Name<'_>> = Vec::new();
    let mut numbers: BTreeMap<Name<'_>, u32> = BTreeMap::new();
    let numbers = run.nodes.iter().zip(levels).map(|(node, shown)| {
        let name = (shown? == Shown::Communication, node.name.as_str());
        Some(*numbers.entry(name).or_insert_with(|| {
            names.push(name);
            u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
        }))
    });
    let numbers: Vec<Option<u32>> = numbers.collect();
    let mut shown: Vec<(u32, StagePiece)> = calls
        .filter_map(|(node, start_ns, end_ns)| {
            let name = (*numbers.get(node as usize)?)?;
            Some((node, StagePiece { name, start_ns, end_ns }))
        })
        .collect();
    shown.sort_by_key(|(node, piece)| (piece.start_ns, Reverse(piece.end_ns), *node));
    (names, shown.into_iter().map(|(_, piece)| piece).collect())
}

/// Of calls by their beginnings, at each moment the one that began last.
fn painted(calls: Vec<StagePiece>) -> Vec<StagePiece> {
    let mut painting = Painting::default();
    for call in calls {
        painting.go_on_to(call.start_ns);
        painting.open.push(call);
    }
    painting.go_on_to(u64::MAX);
    painting.pieces
}

#[derive(Default)]
struct Painting {
    at_ns: u64,
    open: Vec<StagePiece>,
    pieces: Vec<StagePiece>,
}

impl Painting {
    fn go_on_to(&mut self, to_ns: u64) {
        while let Some(last) = self.open.last().copied() {
            let end_ns = last.end_ns.min(to_ns);
            if end_ns > self.at_ns {
                self.pieces.push(StagePiece { start_ns: self.at_ns, end_ns, ..last });
                self.at_ns = end_ns;
            }
            if last.end_ns > to_ns {
                break;
            }
            self.open.pop();
        }
        self.at_ns = self.at_ns.max(to_ns);
    }
}

/// Neighbours of one name that touch, or nearly (by a thousandth of their length), are one.
fn merge_equal(pieces: &mut Vec<StagePiece>) {
    pieces.dedup_by(|next, kept| {
        let length_ns = next.end_ns.saturating_sub(kept.start_ns);
        let gap_ns = next.start_ns.saturating_sub(kept.end_ns);
        let is_one = next.name == kept.name && gap_ns <= length_ns / 1000;
        if is_one {
            kept.end_ns = kept.end_ns.max(next.end_ns);
        }
        is_one
    });
}

/// At most [`RankSummary::MAX_PIECES`]: as many stretches, or half of them where most have two pieces.
fn bounded(pieces: &[StagePiece], names: &[Name<'_>]) -> Vec<StagePiece> {
    let shown = stretches(pieces, names, RankSummary::MAX_PIECES as u64);
    if shown.len() <= RankSummary::MAX_PIECES {
        return shown;
    }
    stretches(pieces, names, RankSummary::MAX_PIECES as u64 / 2)
}

fn stretches(pieces: &[StagePiece], names: &[Name<'_>], n_stretches: u64) -> Vec<StagePiece> {
    let start_ns = pieces.first().map_or(0, |piece| piece.start_ns);
    let end_ns = pieces.iter().map(|piece| piece.end_ns).max().unwrap_or(0);
    let width_ns = end_ns.saturating_sub(start_ns).div_ceil(n_stretches).max(1);
    let mut times: BTreeMap<u64, BTreeMap<u32, u64>> = BTreeMap::new();
    for piece in pieces {
        let mut at_ns = piece.start_ns;
        while at_ns < piece.end_ns {
            let stretch = (at_ns - start_ns) / width_ns;
            let next_ns = (stretch + 1).saturating_mul(width_ns).saturating_add(start_ns);
            let until_ns = next_ns.min(piece.end_ns);
            let time = times.entry(stretch).or_default().entry(piece.name).or_default();
            *time = time.saturating_add(until_ns - at_ns);
            at_ns = until_ns;
        }
    }
    let mut shown: Vec<StagePiece> = Vec::new();
    for (stretch, of_names) in times {
        let mut at_ns = start_ns.saturating_add(stretch.saturating_mul(width_ns));
        for is_communication in [false, true] {
            let is_of_kind =
                |(name, _): &(&u32, &u64)| names[**name as usize].0 == is_communication;
            let of_kind = of_names.iter().filter(is_of_kind);
            let all_ns = sum(of_kind.clone().map(|(_, time)| *time));
            let most = of_kind.max_by_key(|(name, time)| (**time, Reverse(**name)));
            let Some((name, _)) = most else { continue };
            shown.push(StagePiece {
                name: *name,
                start_ns: at_ns,
                end_ns: at_ns.saturating_add(all_ns),
            });
            at_ns = at_ns.saturating_add(all_ns);
        }
    }
    merge_equal(&mut shown);
    shown
}

/// How a call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// As what the process works on.
    Stage,
    /// As communication.
    Communication,
}

/// Which calls are shown, by node. Collectives are, wherever they lie. Of other sections the outermost are; but one that is nearly all of
/// the work says nothing, and shows what lies below it, if that is more than little, and itself only where that leaves room. Work is time
/// without communication, so that ranks that wait are shown like ranks that do not. Loops are passed over; where there are no sections,
/// their iterations are shown.
///
/// ```text
/// denoise        |-------------------------------|           94 of 100
///   attention    |---------|     |---------|
///   mlp                    |-----|         |-----|
/// decode                                         |--|
/// shown          |attention|-mlp-|attention|-mlp-|de|
/// ```
///
/// Of calls of one thread: node, begin and end. `None` of nodes whose calls are not shown.
fn levels(
    run: &Run,
    known: &Known<'_>,
    calls: impl Iterator<Item = (u32, u64, u64)>,
) -> Vec<Option<Shown>> {
    let times = Times::of(run, known, calls);
    let work_ns = times.below.first().copied().unwrap_or(0);
    let mut shown = vec![None; run.nodes.len()];
    // Whose children are shown, and who is within a collective.
    let mut is_open = vec![true; run.nodes.len()];
    let mut is_within = vec![false; run.nodes.len()];
    for (node, parent) in parents(run) {
        let is_iteration = run.nodes[node].kind == NodeKind::Iteration;
        let is_reached = is_open[parent];
        is_within[node] = is_within[parent];
        is_open[node] = is_reached;
        if known.name(node).is_some() {
            shown[node] = (!is_within[node]).then_some(Shown::Communication);
            is_within[node] = true;
            is_open[node] = false;
        } else if is_iteration {
            let is_shown = work_ns == 0 && is_reached;
            shown[node] = is_shown.then_some(Shown::Stage);
            is_open[node] = is_reached && !is_shown;
        } else if is_reached {
            let (own_ns, below_ns) = (times.work_ns(node), times.below[node]);
            let left_ns = own_ns.saturating_sub(below_ns);
            let is_opened = is_nearly_all(own_ns, work_ns) && !is_little(below_ns, own_ns);
            let is_shown = !is_opened || !is_little(left_ns, own_ns);
            shown[node] = is_shown.then_some(Shown::Stage);
            is_open[node] = is_opened;
        }
    }
    shown
}

/// At least nine tenths.
fn is_nearly_all(part: u64, all: u64) -> bool {
    all > 0 && u128::from(part) * 10 >= u128::from(all) * 9
}

/// Less than a tenth.
fn is_little(part: u64, all: u64) -> bool {
    u128::from(part) * 10 < u128::from(all)
}

/// Nodes with their parents, which come before them; the root is none.
fn parents(run: &Run) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    let parent = |node: usize| run.nodes[node].parent.map(|parent| parent as usize);
    let parents = (1..run.nodes.len()).map(move |node| Some((node, parent(node)?)));
    parents.flatten().filter(|(node, parent)| parent < node)
}

/// Time of nodes in nanoseconds.
struct Times {
    /// All calls of a node.
    all: Vec<u64>,
    /// Collectives in them.
    communication: Vec<u64>,
    /// Work of the sections that are next below.
    below: Vec<u64>,
}

impl Times {
    fn of(run: &Run, known: &Known<'_>, calls: impl Iterator<Item = (u32, u64, u64)>) -> Self {
        let nothing = vec![0_u64; run.nodes.len()];
        let mut times =
            Self { all: nothing.clone(), communication: nothing.clone(), below: nothing };
        for (node, start_ns, end_ns) in calls {
            if let Some(all) = times.all.get_mut(node as usize) {
                *all = all.saturating_add(end_ns.saturating_sub(start_ns));
            }
        }
        for (node, parent) in parents(run).rev() {
            let (communication_ns, below_ns) = if known.name(node).is_some() {
                (times.all[node], 0)
            } else if run.nodes[node].kind == NodeKind::Iteration {
                (times.communication[node], times.below[node])
            } else {
                (times.communication[node], times.work_ns(node))
            };
            let add = |to: &mut u64, ns| *to = to.saturating_add(ns);
            add(&mut times.communication[parent], communication_ns);
            add(&mut times.below[parent], below_ns);
        }
        times
    }

    /// Without collectives.
    fn work_ns(&self, node: usize) -> u64 {
        self.all[node].saturating_sub(self.communication[node])
    }
}
