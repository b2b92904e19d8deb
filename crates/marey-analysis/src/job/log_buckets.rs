//! A distribution of durations in few bytes.

use marey::{Histogram, bucket_of};
use serde::{Deserialize, Serialize};

/// Occupied buckets of a [`Histogram`] of nanoseconds, each with how many durations are in it, in order: a bucket is at most 6.25 % wide.
/// Adding them is exact, so the order in which many are added changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogBuckets(Vec<(u16, u64)>);

/// More durations than a bucket of any run has: counts that somebody else wrote must not overflow their sum.
const MOST: u64 = 1 << 40;

impl LogBuckets {
    /// Of durations in nanoseconds, in any order.
    pub fn of(durations: impl IntoIterator<Item = u64>) -> Self {
        let mut all = Histogram::default();
        durations.into_iter().for_each(|duration| all.add(duration));
        Self::of_histogram(&all)
    }

    /// Of a histogram in any unit: its buckets are counted by their middles, so that a duration may be one bucket off.
    pub fn of_histogram(histogram: &Histogram) -> Self {
        let mut all = Histogram::default();
        for (low_ns, high_ns, count) in histogram.buckets() {
            all.add_to_bucket(bucket_of(low_ns.midpoint(high_ns)), count);
        }
        let number = |low_ns| u16::try_from(bucket_of(low_ns)).unwrap_or(u16::MAX);
        Self(all.buckets().map(|(low_ns, _, count)| (number(low_ns), count)).collect())
    }

    /// All of many.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Histogram {
        let mut sum = Histogram::default();
        for (bucket, count) in all.into_iter().flat_map(|one| &one.0) {
            sum.add_to_bucket((*bucket).into(), (*count).min(MOST));
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_in_any_order_gives_the_same() {
        let (a, b, c) = (
            LogBuckets::of([1, 5, 1_000_000]),
            LogBuckets::of([5, 70]),
            LogBuckets::of([u64::MAX, 0]),
        );
        let sum = |parts: [&LogBuckets; 3]| LogBuckets::sum(parts);
        assert_eq!(sum([&a, &b, &c]), sum([&c, &a, &b]));
        assert_eq!(sum([&a, &b, &c]).count(), 7);
        // 0 1 5 5 70 10^6 max: the middle one is 5, which has a bucket of its own.
        assert_eq!(sum([&a, &b, &c]).quantile(0.5), Some(5));
    }

    #[test]
    fn buckets_that_there_are_not_count_for_nothing() {
        // Bucket 3 holds 3 ns, 5 holds 5 ns; there is no bucket 976, whose width would be none.
        let read: LogBuckets = serde_json::from_str("[[5,1],[976,4],[3,2],[5,1],[7,0]]").unwrap();
        assert_eq!(LogBuckets::sum([&read]), LogBuckets::sum([&LogBuckets::of([3, 3, 5, 5])]));
        let most: LogBuckets =
            serde_json::from_str("[[3,18446744073709551615],[5,18446744073709551615]]").unwrap();
        assert_eq!(LogBuckets::sum([&most]).quantile(1.0), Some(5));
    }
}
