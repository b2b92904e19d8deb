//! A distribution of durations in few bytes.

use marey::{Histogram, bucket_of, bucket_range, quantile_ranks};
use serde::{Deserialize, Serialize};

/// Occupied buckets of [`Histogram`], each with how many durations of nanoseconds are in it, in order: a bucket is at most 6.25 % wide.
/// Adding two of them is exact, so the order in which many are added changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u16, u64)>")]
pub struct LogBuckets(Vec<(u16, u64)>);

/// Number of buckets of [`Histogram`].
const N_BUCKETS: u16 = 976;

impl From<Vec<(u16, u64)>> for LogBuckets {
    /// Of buckets in any order. Those that there are not are left out.
    fn from(mut buckets: Vec<(u16, u64)>) -> Self {
        buckets.retain(|(bucket, count)| *bucket < N_BUCKETS && *count > 0);
        buckets.sort_by_key(|(bucket, _)| *bucket);
        buckets.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
        Self(buckets)
    }
}

impl LogBuckets {
    /// Of durations in nanoseconds, in any order.
    pub fn of(durations: impl IntoIterator<Item = u64>) -> Self {
        let each = durations.into_iter().map(|duration| (number(bucket_of(duration)), 1));
        each.collect::<Vec<(u16, u64)>>().into()
    }

    /// Of a histogram in any unit: its buckets are counted by their middles, so that a duration may be one bucket off.
    pub fn of_histogram(histogram: &Histogram) -> Self {
        let each = histogram.buckets();
        let each = each.map(|(low, high, count)| (number(bucket_of(low.midpoint(high))), count));
        each.collect::<Vec<(u16, u64)>>().into()
    }

    /// All of many.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut counts = vec![0_u64; usize::from(N_BUCKETS)];
        for (bucket, count) in all.into_iter().flat_map(|one| &one.0) {
            if let Some(sum) = counts.get_mut(usize::from(*bucket)) {
                *sum = sum.saturating_add(*count);
            }
        }
        let occupied = (0..N_BUCKETS).zip(counts).filter(|(_, count)| *count > 0);
        Self(occupied.collect())
    }

    /// How many durations.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// A quantile (0 to 1) of all durations, each as the middle of its bucket (±3.1 %), see [`marey::quantile_ranks`]. `None` when empty.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let (lower, upper) = quantile_ranks(self.count(), quantile);
        Some(self.ranked_ns(lower)?.midpoint(self.ranked_ns(upper)?))
    }

    fn ranked_ns(&self, rank: u64) -> Option<u64> {
        let mut seen = 0_u64;
        let reached = self.0.iter().find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        reached.map(|(bucket, _)| {
            let (low, high) = bucket_range(usize::from(*bucket));
            low + (high - low) / 2
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "there are 976 buckets")]
fn number(bucket: usize) -> u16 {
    bucket as u16
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
        assert_eq!(sum([&a, &b, &c]), LogBuckets::sum([&LogBuckets::sum([&b, &a]), &c]));
        assert_eq!(sum([&a, &b, &c]).count(), 7);
        // 0 1 5 5 70 10^6 max: the middle one is 5, which has a bucket of its own.
        assert_eq!(sum([&a, &b, &c]).quantile_ns(0.5), Some(5));
        assert_eq!(LogBuckets::default().quantile_ns(0.5), None);
    }

    #[test]
    fn what_somebody_else_wrote_is_put_in_order() {
        // Bucket 3 holds 3 ns, 5 holds 5 ns; there is no bucket 976, whose width would be none.
        let read: LogBuckets = serde_json::from_str("[[5,1],[976,4],[3,2],[5,1],[7,0]]").unwrap();
        assert_eq!(read, LogBuckets::of([3, 3, 5, 5]));
        assert_eq!(read.quantile_ns(1.0), Some(5));
        assert_eq!(bucket_of(u64::MAX), usize::from(N_BUCKETS) - 1);
    }
}
