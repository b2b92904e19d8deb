//! A cheap look at a lane's totals: for live viewers, which must not be felt by the producer.
//!
//! Each node is read by itself, without its histogram, and a busy producer is not waited for: figures of two nodes may be of
//! moments some microseconds apart. What has to be of one moment is the business of [`super::totals::snapshot`].

use crate::atomics::{
    AtomicU64,
    Ordering::{Acquire, Relaxed},
    fence,
};

use super::layout::{TOTALS_WORDS, high};
use super::ring::{Record, Ring};
use super::totals::{COUNT, ERRORS, LAST_END, MAX, MIN, NodeSnapshot, SUM};

/// Attempts at figures of one node that are of one moment.
const ATTEMPTS: usize = 4;

/// Nodes with at least one call, of which shortest and longest may lack the last one; `n_nodes` is the shared count of nodes.
pub(crate) fn glance(ring: &Ring<'_>, n_nodes: u64) -> Vec<NodeSnapshot> {
    let n_nodes = usize::try_from(n_nodes).unwrap_or(usize::MAX);
    (0..n_nodes.min(ring.n_nodes()))
        .filter_map(|node| {
            let seen = node_words(ring.totals(node)?)?;
            Some(NodeSnapshot {
                node: u32::try_from(node).ok()?,
                errors: high(ring.rare(node)?[ERRORS].load(Relaxed)),
                ..seen
            })
        })
        .collect()
}

/// The figures that a count publishes; `None` before the first call.
fn node_words(words: &[AtomicU64; TOTALS_WORDS]) -> Option<NodeSnapshot> {
    let mut seen = NodeSnapshot::default();
    for _ in 0..ATTEMPTS {
        let count = words[COUNT].load(Acquire);
        if count == 0 {
            return None;
        }
        let get = |at: usize| words[at].load(Relaxed);
        let [valid, other] = if count.is_multiple_of(2) { [SUM, SUM + 1] } else { [SUM + 1, SUM] };
        let sum = get(valid);
        // The other sum is that before the last call, or already that after the next one.
        let last = sum.abs_diff(get(other));
        seen = NodeSnapshot {
            count,
            sum,
            min: get(MIN).min(last),
            max: get(MAX).max(last),
            last,
            last_end: get(LAST_END),
            ..seen
        };
        fence(Acquire);
        if words[COUNT].load(Relaxed) == count {
            break;
        }
    }
    Some(seen)
}

/// Records that were committed since position `seen`, as far as they are still in the ring, oldest first; and the head, to go on from.
pub(crate) fn newest(ring: &Ring<'_>, seen: u64, head: u64) -> Vec<Record> {
    let first = seen.max(head.saturating_sub(ring.capacity()));
    let mut records: Vec<(u64, Record)> =
        (first..head).filter_map(|position| Some((position, ring.record(position)?))).collect();
    fence(Acquire);
    // The producer may have come round meanwhile, and be writing into the oldest.
    let overwritten = ring.get(super::layout::lane::HEAD);
    records.retain(|(position, _)| position.saturating_add(ring.capacity()) > overwritten);
    records.into_iter().map(|(_, record)| record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::layout::LaneLayout;
    use crate::recorder::mapping::Mapping;
    use crate::recorder::totals::NodeWords;

    fn words() -> &'static [AtomicU64] {
        let layout = LaneLayout::new(8, 8, 4);
        Mapping::private(layout.end).unwrap().words()
    }

    // node 2: 10..13 (3 ticks), 20..27 (7), 30..32 (2, failed)   node 3: 40..41
    #[test]
    fn a_glance_has_count_sum_and_extremes_of_the_nodes_with_calls() {
        let ring = Ring::new(words(), 0, 8, 8, 4);
        let calls = [(2, 10, 13), (2, 20, 27), (2, 30, 32), (3, 40, 41)];
        for (node, start, end) in calls {
            let words = NodeWords::of(&ring, node).unwrap();
            words.add(&[], (start, end), start == 30, || 0);
        }
        let seen = glance(&ring, 4);
        let expected = |node, errors, [count, sum, min, max, last, last_end]: [u64; 6]| {
            let none = NodeSnapshot::default();
            NodeSnapshot { node, errors, count, sum, min, max, last, last_end, ..none }
        };
        let first = expected(2, 1, [3, 12, 2, 7, 2, 32]);
        assert_eq!(seen, [first, expected(3, 0, [1, 1, 1, 1, 1, 41])]);
        assert_eq!(glance(&ring, u64::MAX).len(), 2, "a damaged count of nodes");
    }

    #[test]
    fn a_kill_between_count_and_extremes_shows_in_neither() {
        let words = words();
        let ring = Ring::new(words, 0, 8, 8, 4);
        let node = ring.totals(2).unwrap();
        // The second call, of 9 ticks, is counted; shortest and longest still say 5.
        for (at, value) in [(COUNT, 2), (SUM, 14), (SUM + 1, 5), (MIN, 5), (MAX, 5)] {
            node[at].store(value, Relaxed);
        }
        let seen = &glance(&ring, 4)[0];
        assert_eq!((seen.count, seen.sum, seen.last), (2, 14, 9));
        assert_eq!((seen.min, seen.max), (5, 9));
    }

    #[test]
    fn records_that_were_overwritten_are_left_out() {
        let ring = Ring::new(words(), 0, 8, 8, 4);
        for position in 0..11 {
            ring.commit(position, position * 10, position * 10 + 1, 2);
        }
        let starts = |seen| -> Vec<u64> { newest(&ring, seen, 11).iter().map(|r| r[0]).collect() };
        // The place of position 3 is the next to be written.
        assert_eq!(starts(0), [40, 50, 60, 70, 80, 90, 100]);
        assert_eq!(starts(9), [90, 100]);
        assert_eq!(starts(11), [] as [u64; 0]);
    }
}
