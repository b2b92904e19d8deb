//! Copies of a lane's totals: what the capture and live statistics are made of.
//!
//! A copy is taken while the producer may be at work, in this process or in another:
//!
//! ```text
//! reader    marks ── copy of the totals ── marks again: the same? ─yes─► what the journal says, if it is not applied
//!             ▲                                   │
//!             └──────────────── no ───────────────┘
//! ```
//!
//! Marks only grow, so when they are the same nothing was committed meanwhile; a change that was half applied is applied to the
//! copy, which is harmless when it was there already. That holds for a producer that died, too.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed},
    fence,
};

use super::layout::{TOTALS_WORDS, high, lane, low};
use super::ring::{Change, Ring, buckets_of};
use crate::histogram::N_BUCKETS;

/// Attempts at a copy of everything. Histograms are large, so a thread that does nothing but record defeats these.
const ATTEMPTS_WITH_HISTOGRAMS: u32 = 100;
/// Attempts in all; the others copy histograms afterwards, which may then be some calls ahead.
const ATTEMPTS: u32 = 20_000;

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

/// Copies the totals of a lane; `n_nodes` is the shared count of nodes. False when the producer was too busy for a copy of one
/// moment: the totals may then be some calls ahead of `head`.
pub(crate) fn snapshot(
    ring: &Ring<'_>,
    histograms: &[AtomicU32],
    n_nodes: &AtomicU64,
) -> (TotalsSnapshot, bool) {
    let mut copy = Copy::default();
    for attempt in 0..ATTEMPTS {
        let with_histograms = attempt < ATTEMPTS_WITH_HISTOGRAMS;
        let before = Marks::of(ring);
        copy.take(ring, n_nodes);
        if with_histograms {
            copy.take_buckets(histograms);
        }
        fence(Acquire);
        if before == Marks::of(ring) {
            if !with_histograms {
                copy.take_buckets(histograms);
            }
            copy.complete(&before);
            return (copy.finish(&before), true);
        }
        if attempt % 64 == 63 {
            std::thread::yield_now();
        }
    }
    let marks = Marks::of(ring);
    copy.take(ring, n_nodes);
    copy.take_buckets(histograms);
    (copy.finish(&marks), false)
}

/// How far a producer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    head: u64,
    dropped: u64,
    applied: u64,
    journal: [u64; 8],
}

impl Marks {
    fn of(ring: &Ring<'_>) -> Self {
        Self {
            applied: ring.get(lane::APPLIED),
            journal: std::array::from_fn(|i| ring.get(lane::JOURNAL + i)),
            dropped: ring.get(lane::DROPPED),
            head: ring.get(lane::HEAD),
        }
    }

    /// The change of a call that is committed and of which it is not known whether it is in the totals.
    fn pending(&self) -> Option<Change> {
        let (change, applied) = Change::from_journal(&self.journal);
        let is_committed = self.head.wrapping_add(self.dropped) == applied;
        (self.applied != applied && is_committed).then_some(change)
    }
}

/// Words of nodes with at least one call, and their histograms one after the other.
#[derive(Debug, Default)]
struct Copy {
    nodes: Vec<(usize, [u64; TOTALS_WORDS], u64)>,
    buckets: Vec<u32>,
}

impl Copy {
    fn take(&mut self, ring: &Ring<'_>, n_nodes: &AtomicU64) {
        self.nodes.clear();
        let n_nodes = usize::try_from(n_nodes.load(Acquire)).unwrap_or(usize::MAX);
        for node in 0..n_nodes.min(ring.n_nodes()) {
            let Some(totals) = ring.totals(node) else {
                break;
            };
            // A node whose first call is just being applied has its histogram already.
            if totals[0].load(Relaxed) != 0 || totals[7].load(Relaxed) != 0 {
                let words = totals.each_ref().map(|w| w.load(Relaxed));
                self.nodes
                    .push((node, words, ring.first_start(node).load(Relaxed)));
            }
        }
    }

    fn take_buckets(&mut self, histograms: &[AtomicU32]) {
        self.buckets.clear();
        for (_, words, _) in &self.nodes {
            match buckets_of(histograms, low(words[7])) {
                Some(buckets) => {
                    let counts = buckets.iter().map(|count| count.load(Relaxed));
                    self.buckets.extend(counts);
                }
                None => self.buckets.extend([0; N_BUCKETS]),
            }
        }
    }

    fn complete(&mut self, marks: &Marks) {
        let Some(change) = marks.pending() else {
            return;
        };
        let at = self
            .nodes
            .iter()
            .position(|(node, ..)| *node == change.node());
        // Without a histogram, the first call of a node leaves no trace before it is applied.
        let at = at.unwrap_or_else(|| {
            self.nodes.push((change.node(), [0; TOTALS_WORDS], 0));
            self.buckets.extend([0; N_BUCKETS]);
            self.nodes.len() - 1
        });
        let (_, words, first_start) = &mut self.nodes[at];
        let (totals, first) = (words.map(AtomicU64::new), AtomicU64::new(*first_start));
        change.apply(&totals, &first, &[]);
        *words = totals.map(AtomicU64::into_inner);
        *first_start = first.into_inner();
        if let Some((bucket, count)) = change.bucket() {
            self.buckets[at * N_BUCKETS + bucket] = count;
        }
    }

    fn finish(self, marks: &Marks) -> TotalsSnapshot {
        let nodes = self.nodes.into_iter().zip(self.buckets.chunks(N_BUCKETS));
        TotalsSnapshot {
            head: marks.head,
            dropped: marks.dropped,
            nodes: nodes
                .filter_map(|((node, words, first_start), buckets)| {
                    node_snapshot(node, &words, first_start, buckets)
                })
                .collect(),
        }
    }
}

fn node_snapshot(
    node: usize,
    words: &[u64; TOTALS_WORDS],
    first_start: u64,
    buckets: &[u32],
) -> Option<NodeSnapshot> {
    if words[0] == 0 {
        return None;
    }
    let occupied = || {
        (0..)
            .zip(buckets.iter().copied())
            .filter(|(_, count)| *count > 0)
    };
    Some(NodeSnapshot {
        node: u32::try_from(node).ok()?,
        errors: high(words[7]),
        count: words[0],
        sum: words[1],
        min: words[2],
        max: words[3],
        last: words[4],
        last_end: words[5],
        first: words[6],
        first_start,
        buckets: (low(words[7]) != 0).then(|| occupied().collect()),
    })
}
