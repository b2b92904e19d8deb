//! When threads did something, each thread one thing after the other.

use std::collections::BTreeMap;

use super::durations::sum;
use crate::intervals::{Interval, union_length_ns};

/// Intervals of turns, given as thread, end and duration in order of their ends. None begins before the one before it in its thread
/// has ended: a reported duration says how long, and the clocks may differ.
pub(super) fn disjoint(
    turns: impl Iterator<Item = (u32, u64, Option<u64>)>,
) -> Vec<(u32, Interval)> {
    let mut last_end = BTreeMap::new();
    turns
        .filter_map(|(thread, end_ns, duration_ns)| {
            let earliest: &mut u64 = last_end.entry(thread).or_default();
            let start_ns = end_ns
                .saturating_sub(duration_ns?)
                .max(*earliest)
                .min(end_ns);
            *earliest = end_ns;
            Some((thread, Interval { start_ns, end_ns }))
        })
        .collect()
}

/// Time that intervals, disjoint in each thread, have too much when they are added up: what threads did beside one another counts
/// once.
///
/// ```text
/// thread 1   |---- 4 ----|              |-- 3 --|
/// thread 2         |---- 4 ----|                         2 of 11
/// ```
pub(super) fn beside_ns(spans: &[(u32, Interval)]) -> u64 {
    let lengths = sum(spans.iter().map(|(_, span)| span.length_ns()));
    let covered = union_length_ns(spans.iter().map(|(_, span)| *span).collect());
    lengths.saturating_sub(covered)
}
