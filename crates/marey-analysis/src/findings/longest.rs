//! Which of many intervals a finding names.

use super::Finding;
use crate::intervals::Interval;

/// The longest of the intervals, [`Finding::MAX_INTERVALS`] at most, in order of time. Holds no more than twice as many.
pub(super) fn longest(intervals: impl Iterator<Item = Interval>) -> Vec<Interval> {
    let mut kept: Vec<Interval> = Vec::new();
    for interval in intervals {
        kept.push(interval);
        if kept.len() == 2 * Finding::MAX_INTERVALS {
            keep_longest(&mut kept);
        }
    }
    keep_longest(&mut kept);
    kept.sort_unstable();
    kept
}

fn keep_longest(kept: &mut Vec<Interval>) {
    kept.sort_unstable_by_key(|i| (std::cmp::Reverse(i.length_ns()), i.start_ns));
    kept.truncate(Finding::MAX_INTERVALS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_stay_in_order_of_time() {
        // Lengths 0, 1, … 99: those of 80 to 99 stay.
        let all = (0..100).map(|n| Interval {
            start_ns: n * 100,
            end_ns: n * 100 + n,
        });
        let kept = longest(all);
        let starts: Vec<u64> = kept.iter().map(|i| i.start_ns / 100).collect();
        assert_eq!(starts, (80..100).collect::<Vec<u64>>());
    }
}
