//! What a process did when.

use std::collections::BTreeMap;

use marey::{NodeKind, Run, Section};

use crate::job::{RankSummary, StagePiece};
use crate::whereabouts::main_thread;

/// Outermost sections of the main thread in order of time, and their names. Loops are passed over; where nothing else is outermost,
/// their turns are shown. Of more than [`RankSummary::MAX_PIECES`] each stretch of the time shows the one with most of it.
///
/// ```text
/// pieces     |a||a||b||a||b||b||c|
/// stretches  |-----|-----|-----|-----|     room for four
/// shown      |--a--|     |--b--|--c--|     equal neighbours are one
/// ```
pub(super) fn stages(run: &Run) -> (Vec<StagePiece>, Vec<String>) {
    let mut names = Names::default();
    let mut pieces = outermost(run, NodeKind::Section, &mut names);
    if pieces.is_empty() {
        pieces = outermost(run, NodeKind::Iteration, &mut names);
    }
    pieces.sort_by_key(|piece| (piece.start_ns, piece.end_ns, piece.name));
    merge_equal(&mut pieces);
    if pieces.len() > RankSummary::MAX_PIECES {
        pieces = stretches(&pieces);
    }
    names.keep_used(&mut pieces);
    (pieces, names.names)
}

fn outermost(run: &Run, kind: NodeKind, names: &mut Names) -> Vec<StagePiece> {
    let thread = main_thread(run);
    let nodes: Vec<Option<u32>> = (0..run.nodes.len())
        .map(|node| is_outermost(run, node, kind).then(|| names.number(&run.nodes[node].name)))
        .collect();
    let name_of = |node: u32| nodes.get(node as usize).copied().flatten();
    // Sections are in order of their threads.
    let first = run.sections.partition_point(|s| s.thread < thread);
    let own = run.sections[first..].iter();
    let own = own.take_while(|section| section.thread == thread && section.node != u32::MAX);
    let piece = |section: &Section| {
        Some(StagePiece {
            name: name_of(section.node).filter(|_| section.flow == 0)?,
            start_ns: section.start_ns,
            end_ns: section.end_ns,
        })
    };
    let open = run.open.iter().filter(|open| open.thread == Some(thread));
    let open = open.filter_map(|open| {
        Some(StagePiece {
            name: name_of(open.node)?,
            start_ns: open.start_ns,
            end_ns: run.wall_ns.max(open.start_ns),
        })
    });
    own.filter_map(piece).chain(open).collect()
}

/// Of this kind, and within nothing but loops.
fn is_outermost(run: &Run, node: usize, kind: NodeKind) -> bool {
    let mut at = node;
    if node == 0 || run.nodes[node].kind != kind {
        return false;
    }
    while let Some(parent) = run.nodes[at].parent.map(|parent| parent as usize) {
        if parent >= at {
            return false;
        }
        if parent > 0
            && (kind == NodeKind::Iteration || run.nodes[parent].kind == NodeKind::Section)
        {
            return false;
        }
        at = parent;
    }
    true
}

/// Names by number, in the order in which they were asked for.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Leaves out names that no piece has.
    fn keep_used(&mut self, pieces: &mut [StagePiece]) {
        let before = std::mem::take(self);
        for piece in pieces {
            let name = before.names.get(piece.name as usize);
            piece.name = self.number(name.map_or("", String::as_str));
        }
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

fn stretches(pieces: &[StagePiece]) -> Vec<StagePiece> {
    let n_stretches = RankSummary::MAX_PIECES as u64;
    let start_ns = pieces.first().map_or(0, |piece| piece.start_ns);
    let end_ns = pieces.iter().map(|piece| piece.end_ns).max().unwrap_or(0);
    let width_ns = end_ns.saturating_sub(start_ns).div_ceil(n_stretches).max(1);
    let mut times: BTreeMap<u64, BTreeMap<u32, u64>> = BTreeMap::new();
    for piece in pieces {
        let mut at_ns = piece.start_ns;
        while at_ns < piece.end_ns {
            let stretch = (at_ns - start_ns) / width_ns;
            let next_ns = (stretch + 1)
                .saturating_mul(width_ns)
                .saturating_add(start_ns);
            let until_ns = next_ns.min(piece.end_ns);
            let time = times
                .entry(stretch)
                .or_default()
                .entry(piece.name)
                .or_default();
            *time = time.saturating_add(until_ns - at_ns);
            at_ns = until_ns;
        }
    }
    let mut shown: Vec<StagePiece> = Vec::new();
    for (stretch, of_names) in times {
        let most = of_names
            .iter()
            .max_by_key(|(name, time)| (**time, std::cmp::Reverse(**name)));
        let Some((name, _)) = most else { continue };
        let start_ns = start_ns.saturating_add(stretch.saturating_mul(width_ns));
        shown.push(StagePiece {
            name: *name,
            start_ns,
            end_ns: start_ns.saturating_add(width_ns).min(end_ns),
        });
    }
    merge_equal(&mut shown);
    shown
}
