//! A lane's totals: what a call adds to them, and copies of them.
//!
//! Of the words of a node only `count` publishes: the sum has two places, of which `count` tells the valid one, so a producer that
//! is killed leaves either the state before a call or the one after it. The difference of the sums is the last call's duration.
//! Shortest and longest follow the count, and a reader makes them good from it; the histogram is always one call behind, and
//! a reader adds the last one:
//!
//! ```text
//! bucket of the call before ─► sum[odd] = sum[even] + d ─► count ─► min, max
//!                                                       ^ killed here: nothing happened
//!                                                                 ^ killed here: d completes them
//! ```
//!
//! A copy is taken while the producer may be at work, in this process or in another: when as much was committed after it as
//! before, at most one call is missing in it, the last one that was committed. That holds for a producer that died, too.

use crate::atomics::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use super::layout::{FLAG_FAILED, RARE_WORDS, TOTALS_WORDS, high, lane, low};
use super::ring::{Record, Ring, bucket_in_arena, buckets_of};
use crate::histogram::{N_BUCKETS, bucket_of};

pub(super) const COUNT: usize = 0;
pub(super) const SUM: usize = 1;
pub(super) const MIN: usize = 3;
pub(super) const MAX: usize = 4;
pub(super) const LAST_END: usize = 5;
const FIRST: usize = 6;
const HISTOGRAM: usize = 7;
const FIRST_START: usize = 0;
pub(super) const ERRORS: usize = 1;

/// Attempts at a copy of everything. Histograms are large, so a thread that does nothing but record defeats these.
const ATTEMPTS_WITH_HISTOGRAMS: u32 = 100;
/// Attempts in all; the others copy histograms afterwards, which may then be some calls ahead.
const ATTEMPTS: u32 = 20_000;

/// The words that a call of a node changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeWords<'a> {
    totals: &'a [AtomicU64; TOTALS_WORDS],
    ring: &'a Ring<'a>,
    node: usize,
}

impl<'a> NodeWords<'a> {
    /// Those of a node; `None` for one that has none.
    #[inline]
    pub(crate) fn of(ring: &'a Ring<'a>, node: usize) -> Option<Self> {
        let totals = ring.totals(node)?;
        Some(Self { totals, ring, node })
    }

    /// The words that few calls change. Looked up when they are wanted.
    fn rare(&self) -> &'a [AtomicU64; RARE_WORDS] {
        self.ring.rare(self.node).expect("a node with totals has these")
    }

    /// Adds a call from `start` to `end`. `new_histogram` is asked once, with the first call.
    #[inline]
    pub(crate) fn add(
        &self,
        histograms: &[AtomicU32],
        (start, end): (u64, u64),
        is_failed: bool,
        new_histogram: impl FnOnce() -> u32,
    ) {
        let t = self.totals;
        let duration = end - start;
        let count = t[COUNT].load(Relaxed) + 1;
        if count == 1 {
            self.begin(start, duration, new_histogram);
        }
        if is_failed {
            self.add_error(count);
        }
        let [even, odd] = [SUM, SUM + 1];
        let (from, to) = if count.is_multiple_of(2) { (odd, even) } else { (even, odd) };
        let sum = t[from].load(Relaxed);
        if count > 1 {
            // The call before is counted in the histogram now: where it goes is long known, while a store to a place that
            // depends on a clock just read holds up what follows it.
            let before = sum.wrapping_sub(t[to].load(Relaxed));
            self.add_to_histogram(histograms, before);
        }
        // A reader that finds this sum ahead counts the call: what came before (bucket, error, the call before) has to be there, too.
        t[to].store(sum.wrapping_add(duration), Release);
        t[LAST_END].store(end, Relaxed);
        t[COUNT].store(count, Release);
        // What follows must not come before, for the compiler and for other processors; on x86-64 this is no instruction.
        fence(Release);
        if duration < t[MIN].load(Relaxed) {
            t[MIN].store(duration, Relaxed);
        }
        if duration > t[MAX].load(Relaxed) {
            t[MAX].store(duration, Relaxed);
        }
    }

    #[inline]
    fn add_to_histogram(&self, histograms: &[AtomicU32], duration: u64) {
        let histogram = low(self.totals[HISTOGRAM].load(Relaxed));
        if let Some(bucket) = bucket_in_arena(histograms, histogram, bucket_of(duration)) {
            bucket.store(bucket.load(Relaxed).saturating_add(1), Relaxed);
        }
    }

    #[cold]
    fn begin(&self, start: u64, duration: u64, new_histogram: impl FnOnce() -> u32) {
        if self.totals[HISTOGRAM].load(Relaxed) == 0 {
            self.totals[HISTOGRAM].store(new_histogram().into(), Relaxed);
        }
        self.totals[MIN].store(duration, Relaxed);
        self.totals[FIRST].store(duration, Relaxed);
        self.rare()[FIRST_START].store(start, Relaxed);
    }

    /// The count beside the errors tells a reader whether the call that failed is in the totals.
    #[cold]
    fn add_error(&self, count: u64) {
        let errors = u64::from(high(self.rare()[ERRORS].load(Relaxed)).saturating_add(1));
        self.rare()[ERRORS].store(errors << 32 | u64::from(low(count)), Relaxed);
    }
}

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
        if before.is_still(ring) {
            if !with_histograms {
                copy.take_buckets(histograms);
            }
            return (copy.finish(before), true);
        }
        if attempt % 64 == 63 {
            std::thread::yield_now();
        }
    }
    let marks = Marks::of(ring);
    copy.take(ring, n_nodes);
    copy.take_buckets(histograms);
    (copy.finish(marks), false)
}

/// How far a producer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks {
    head: u64,
    dropped: u64,
    base: u64,
    is_dropping: bool,
    /// The last record, which may be missing in the totals.
    last: Option<Record>,
}

impl Marks {
    fn of(ring: &Ring<'_>) -> Self {
        let head = ring.get(lane::HEAD);
        Self {
            head,
            dropped: ring.get(lane::DROPPED),
            base: ring.get(lane::BASE),
            is_dropping: ring.get(lane::IS_DROPPING) != 0,
            last: head.checked_sub(1).and_then(|position| ring.record(position)),
        }
    }

    /// Nothing was committed or dropped since.
    fn is_still(&self, ring: &Ring<'_>) -> bool {
        (self.head, self.dropped) == (ring.get(lane::HEAD), ring.get(lane::DROPPED))
    }
}

/// Words of one node.
#[derive(Debug)]
struct NodeCopy {
    node: usize,
    totals: [u64; TOTALS_WORDS],
    rare: [u64; RARE_WORDS],
    has_histogram: bool,
}

/// Words of nodes with at least one call, and the histograms of those that have one, one after the other.
#[derive(Debug, Default)]
struct Copy {
    nodes: Vec<NodeCopy>,
    buckets: Vec<u32>,
}

impl Copy {
    fn take(&mut self, ring: &Ring<'_>, n_nodes: &AtomicU64) {
        self.nodes.clear();
        let n_nodes = usize::try_from(n_nodes.load(Acquire)).unwrap_or(usize::MAX);
        for node in 0..n_nodes.min(ring.n_nodes()) {
            let Some(words) = NodeWords::of(ring, node) else {
                break;
            };
            // The count first: it tells which of the sums, read afterwards, is valid.
            if words.totals[COUNT].load(Acquire) != 0 {
                self.nodes.push(NodeCopy::of(node, &words));
            }
        }
    }

    fn take_buckets(&mut self, histograms: &[AtomicU32]) {
        self.buckets.clear();
        for copy in &mut self.nodes {
            let buckets = buckets_of(histograms, low(copy.totals[HISTOGRAM]));
            copy.has_histogram = buckets.is_some();
            let counts = buckets.into_iter().flatten();
            self.buckets.extend(counts.map(|count| count.load(Relaxed)));
        }
    }

    fn finish(mut self, marks: Marks) -> TotalsSnapshot {
        let last_record = marks.last.filter(|_| !marks.is_dropping);
        for copy in &mut self.nodes {
            copy.publish_sum(last_record);
        }
        let counts = self.nodes.iter().map(|copy| copy.totals[COUNT]);
        let counted = counts.fold(0, u64::wrapping_add);
        let committed = marks.head.wrapping_add(marks.dropped).wrapping_sub(marks.base);
        let is_one_missing = committed == counted.wrapping_add(1);
        let mut dropped = marks.dropped;
        let mut histograms = self.buckets.chunks_exact_mut(N_BUCKETS);
        let mut nodes: Vec<NodeSnapshot> = self
            .nodes
            .iter()
            .filter_map(|copy| {
                let histogram = copy.has_histogram.then(|| histograms.next()).flatten();
                copy.finish(histogram)
            })
            .collect();
        match last_record {
            _ if !is_one_missing => {}
            Some(record) => add_record(&mut nodes, record),
            None => dropped = dropped.saturating_sub(1),
        }
        TotalsSnapshot { head: marks.head, dropped, nodes }
    }
}

impl NodeCopy {
    /// The words of a node with calls. Taken again when a call was counted meanwhile: what follows the count would be ahead of it.
    fn of(node: usize, words: &NodeWords<'_>) -> Self {
        let take = || Self {
            node,
            // Each after those before it: what goes with a sum that is ahead of the count is seen with it.
            totals: words.totals.each_ref().map(|w| w.load(Acquire)),
            rare: words.rare().each_ref().map(|w| w.load(Relaxed)),
            has_histogram: false,
        };
        let copy = take();
        fence(Acquire);
        if words.totals[COUNT].load(Relaxed) == copy.totals[COUNT] { copy } else { take() }
    }

    /// The valid sum, and the other one.
    fn sums(&self) -> (u64, u64) {
        let (even, odd) = (self.totals[SUM], self.totals[SUM + 1]);
        if self.totals[COUNT].is_multiple_of(2) { (even, odd) } else { (odd, even) }
    }

    /// Counts a call of which the producer had written the sum and not yet the count.
    fn publish_sum(&mut self, last_record: Option<Record>) {
        let (sum, other) = self.sums();
        if other <= sum {
            return;
        }
        self.totals[COUNT] = self.totals[COUNT].wrapping_add(1);
        if let Some([_, end, node_flow_flags, _]) = last_record
            && low(node_flow_flags) as usize == self.node
        {
            self.totals[LAST_END] = end;
        }
    }

    /// Completes what follows the count, and unpacks.
    fn finish(&self, histogram: Option<&mut [u32]>) -> Option<NodeSnapshot> {
        let t = &self.totals;
        let count = t[COUNT];
        let (sum, sum_before) = self.sums();
        let last = sum.wrapping_sub(sum_before);
        let buckets = histogram.map(|buckets| {
            let in_buckets: u64 = buckets.iter().map(|n| u64::from(*n)).sum();
            if in_buckets + 1 == count {
                let bucket = &mut buckets[bucket_of(last)];
                *bucket = bucket.saturating_add(1);
            }
            let all = (0..).zip(buckets.iter().copied());
            all.filter(|(_, n)| *n > 0).collect()
        });
        let (errors, with_count) = (high(self.rare[ERRORS]), low(self.rare[ERRORS]));
        let is_error_ahead = errors > 0 && with_count == low(count.wrapping_add(1));
        Some(NodeSnapshot {
            node: u32::try_from(self.node).ok()?,
            errors: errors - u32::from(is_error_ahead),
            count,
            sum,
            min: t[MIN].min(last),
            max: t[MAX].max(last),
            last,
            last_end: t[LAST_END],
            first: t[FIRST],
            first_start: self.rare[FIRST_START],
            buckets,
        })
    }
}

/// Adds the last committed record, whose producer had not come to the totals.
fn add_record(nodes: &mut Vec<NodeSnapshot>, [start, end, node_flow_flags, _]: Record) {
    let node = low(node_flow_flags);
    let duration = end.saturating_sub(start);
    let at = nodes.iter().position(|known| known.node == node).unwrap_or_else(|| {
        nodes.push(NodeSnapshot {
            node,
            min: duration,
            first: duration,
            first_start: start,
            // A first call whose histogram nobody saw yet: it would have got one.
            buckets: Some(Vec::new()),
            ..NodeSnapshot::default()
        });
        nodes.len() - 1
    });
    let totals = &mut nodes[at];
    totals.count = totals.count.wrapping_add(1);
    totals.sum = totals.sum.wrapping_add(duration);
    totals.min = totals.min.min(duration);
    totals.max = totals.max.max(duration);
    (totals.last, totals.last_end) = (duration, end);
    let is_failed = node_flow_flags >> 48 & FLAG_FAILED != 0;
    totals.errors = totals.errors.saturating_add(is_failed.into());
    if let Some(buckets) = &mut totals.buckets {
        let bucket = u32::try_from(bucket_of(duration)).unwrap_or(u32::MAX);
        match buckets.binary_search_by_key(&bucket, |(b, _)| *b) {
            Ok(place) => buckets[place].1 = buckets[place].1.saturating_add(1),
            Err(place) => buckets.insert(place, (bucket, 1)),
        }
    }
    nodes.sort_by_key(|n| n.node);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_names_without_a_histogram_no_buckets_are_copied() {
        let node = |node| NodeCopy {
            node,
            totals: [0; TOTALS_WORDS],
            rare: [0; RARE_WORDS],
            has_histogram: true,
        };
        let mut copy = Copy { nodes: (0..4095).map(node).collect(), buckets: Vec::new() };
        let histograms: Vec<AtomicU32> = (0..N_BUCKETS).map(|_| AtomicU32::new(7)).collect();
        copy.take_buckets(&histograms);
        assert_eq!(copy.buckets, [0; 0]);
        copy.nodes[3].totals[HISTOGRAM] = 1;
        copy.take_buckets(&histograms);
        assert_eq!(copy.buckets, vec![7; N_BUCKETS]);
        let with: Vec<_> = copy.nodes.iter().filter(|node| node.has_histogram).collect();
        assert_eq!(with.iter().map(|node| node.node).collect::<Vec<_>>(), [3]);
    }
}
