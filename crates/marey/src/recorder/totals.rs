//! Copies of a lane's totals: what the capture and live statistics are made of.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::layout::lane;
use super::ring::{Change, Ring};
use crate::histogram::N_BUCKETS;

/// Totals of one node in one lane, in ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSnapshot {
    /// The node.
    pub node: u32,
    /// Calls left by an error.
    pub errors: u32,
    /// Completed calls.
    pub count: u64,
    /// Sum of their ticks.
    pub sum: u64,
    /// Shortest.
    pub min: u64,
    /// Longest.
    pub max: u64,
    /// The call that ended last.
    pub last: u64,
    /// When that was.
    pub last_end: u64,
    /// The call that began first.
    pub first: u64,
    /// When that was.
    pub first_start: u64,
    /// Occupied buckets of the histogram of ticks; `None` when the arena had no room.
    pub buckets: Option<Vec<(u32, u32)>>,
}

/// Totals of one lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TotalsSnapshot {
    /// Records committed when the copy was taken.
    pub head: u64,
    /// Calls that are in the totals without a record.
    pub dropped: u64,
    /// Nodes with at least one call.
    pub nodes: Vec<NodeSnapshot>,
}

/// Copies the totals of a lane. Exact when its producer stands still, is dead, or holds the GIL that the caller holds.
pub(crate) fn snapshot(ring: &Ring<'_>, histograms: &[AtomicU32]) -> TotalsSnapshot {
    let nodes = (0..ring.n_nodes())
        .filter_map(|node| node_snapshot(ring, histograms, node))
        .collect();
    TotalsSnapshot {
        head: ring.get(lane::HEAD),
        dropped: ring.get(lane::DROPPED),
        nodes,
    }
}

/// The producer died between committing a call and applying its change: do it now. Every word is set to what the journal says, so it
/// does not matter how far the producer came. Only for words that nobody else writes: a reader's copy.
pub(crate) fn complete_journal(ring: &Ring<'_>, histograms: &[AtomicU32]) {
    let words: [u64; 8] = std::array::from_fn(|i| ring.get(lane::JOURNAL + i));
    let (change, applied) = Change::from_journal(&words);
    let is_committed = ring.get(lane::HEAD) + ring.get(lane::DROPPED) == applied;
    if ring.get(lane::APPLIED) == applied || !is_committed {
        return;
    }
    let node = change.node() as usize;
    if let Some(totals) = ring.totals(node) {
        change.apply(totals, ring.first_start(node), histograms);
    }
}

fn node_snapshot(ring: &Ring<'_>, histograms: &[AtomicU32], node: usize) -> Option<NodeSnapshot> {
    let words: [u64; 8] = ring.totals(node)?.each_ref().map(|w| w.load(Relaxed));
    if words[0] == 0 {
        return None;
    }
    let buckets = (words[7] as u32).checked_sub(1).and_then(|histogram| {
        let first = histogram as usize * N_BUCKETS;
        let counts = histograms
            .get(first..first + N_BUCKETS)?
            .iter()
            .map(|w| w.load(Relaxed));
        Some(
            (0u32..)
                .zip(counts)
                .filter(|(_, count)| *count > 0)
                .collect(),
        )
    });
    Some(NodeSnapshot {
        node: u32::try_from(node).ok()?,
        errors: (words[7] >> 32) as u32,
        count: words[0],
        sum: words[1],
        min: words[2],
        max: words[3],
        last: words[4],
        last_end: words[5],
        first: words[6],
        first_start: ring.first_start(node).load(Relaxed),
        buckets,
    })
}
