//! The log-linear histogram of durations: a fixed array, merged by addition.
//!
//! Values below 32 have a bucket each; above, every power of two is cut into 16 buckets, so that a bucket is at most
//! 6.25 % wide and its middle at most 3.1 % away from any value in it.
//!
//! ```text
//! value   0 1 2 … 31 | 32 33 | 34 35 | …  62 63 | 64..67 | … 124..127 | 128..135 …
//! bucket  0 1 2 … 31 |  32   |  33   | …   47   |   48   | …    63    |    64    …
//! ```

/// Number of buckets that cover all of `u64`.
pub const N_BUCKETS: usize = (64 - 5) * 16 + 32;

/// Bucket of a value. Source: position of the top bit, then the next four bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "five bits of the value are left")]
pub fn bucket_of(value: u64) -> usize {
    // With bit 4 set, small values get the exponent at which nothing is shifted: no branch, which short sections would mispredict.
    let exponent = (value | 16).ilog2();
    ((exponent - 4) << 4) as usize + (value >> (exponent - 4)) as usize
}

/// Smallest and largest value of a bucket, both inclusive.
pub fn bucket_range(bucket: usize) -> (u64, u64) {
    if bucket < 32 {
        return (bucket as u64, bucket as u64);
    }
    let shift = (bucket >> 4) - 1;
    let low = (16 + (bucket as u64 & 15)) << shift;
    (low, low + ((1 << shift) - 1))
}

/// A distribution of durations. It counts in its own unit (a clock tick, say) and speaks in nanoseconds, so that nothing is
/// rounded twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    unit_ns: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::with_unit(1.0)
    }
}

impl Histogram {
    /// An empty histogram whose values count as `unit_ns` nanoseconds each.
    pub fn with_unit(unit_ns: f64) -> Self {
        Self { counts: vec![0; N_BUCKETS], unit_ns }
    }

    /// The same counts, of values in another unit.
    #[must_use]
    pub fn in_unit(&self, unit_ns: f64) -> Self {
        Self { counts: self.counts.clone(), unit_ns }
    }

    /// Counts one value, in units.
    pub fn add(&mut self, value: u64) {
        self.add_to_bucket(bucket_of(value), 1);
    }

    /// Counts `n` values of a bucket; does nothing for a bucket that does not exist.
    pub fn add_to_bucket(&mut self, bucket: usize, n: u64) {
        if let Some(count) = self.counts.get_mut(bucket) {
            *count = count.saturating_add(n);
        }
    }

    /// Counts all values of another histogram. One with another unit is counted by the middles of its buckets.
    pub fn merge(&mut self, other: &Self) {
        #[expect(clippy::float_cmp, reason = "the same unit is the same number, not a close one")]
        let is_same_unit = self.unit_ns == other.unit_ns;
        for (bucket, n) in other.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let mine = if is_same_unit {
                bucket
            } else {
                bucket_of(scaled(middle(bucket), other.unit_ns / self.unit_ns))
            };
            self.add_to_bucket(mine, *n);
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// A quantile (0 to 1) of all values, each as the middle of its bucket (±3.1 %); `None` when empty. See [`quantile_ranks`].
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let (lower, upper) = quantile_ranks(self.count(), quantile);
        Some(self.ranked(lower)?.midpoint(self.ranked(upper)?))
    }

    /// The value of that rank, from 1.
    fn ranked(&self, rank: u64) -> Option<u64> {
        let mut seen = 0;
        let reached = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        Some(scaled(middle(reached?), self.unit_ns))
    }

    /// Occupied buckets as `(smallest ns, largest ns, count)`.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(bucket, n)| {
            let (low, high) = bucket_range(bucket);
            (scaled(low, self.unit_ns), scaled(high, self.unit_ns), *n)
        })
    }
}

fn middle(bucket: usize) -> u64 {
    let (low, high) = bucket_range(bucket);
    low + (high - low) / 2
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bucket is known to 3 %, an f64 to 16 digits; casts saturate"
)]
fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).round() as u64
}

/// The ranks, from 1, of the two ascending values whose mean is a quantile (0 to 1) of `count` values: both the nearest rank
/// ⌈quantile · count⌉, except for the median of an even number, which lies between the middle two.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts stay far below 2^53; casts saturate"
)]
pub fn quantile_ranks(count: u64, quantile: f64) -> (u64, u64) {
    let is_median = (quantile - 0.5).abs() < f64::EPSILON;
    let nearest = ((count as f64 * quantile.clamp(0.0, 1.0)).ceil() as u64).max(1);
    let is_between = is_median && count > 0 && count.is_multiple_of(2);
    (nearest, nearest + u64::from(is_between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_all_numbers_without_gap_or_overlap() {
        let mut next = 0u64;
        for bucket in 0..N_BUCKETS {
            let (low, high) = bucket_range(bucket);
            assert_eq!(low, next, "bucket {bucket}");
            assert_eq!(bucket_of(low), bucket);
            assert_eq!(bucket_of(high), bucket);
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends at u64::MAX");
    }

    #[test]
    fn a_quantile_is_within_three_percent_of_the_value_it_names() {
        let mut histogram = Histogram::default();
        (1..=1000u64).for_each(|v| histogram.add(v * 1000));
        for (quantile, exact) in
            [(0.5, 500_000.0), (0.95, 950_000.0), (0.99, 990_000.0), (1.0, 1_000_000.0)]
        {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let found = histogram.quantile(quantile).unwrap() as f64;
            assert!((found - exact).abs() / exact <= 0.032, "{quantile}: {found} for {exact}");
        }
        assert_eq!(Histogram::default().quantile(0.5), None);
    }

    #[test]
    fn a_unit_scales_what_comes_out_and_not_what_is_counted() {
        let mut ticks = Histogram::with_unit(0.5);
        (0..10).for_each(|_| ticks.add(30));
        assert_eq!(ticks.quantile(0.5), Some(15));
        let mut ns = Histogram::default();
        ns.add(15);
        ns.merge(&ticks);
        assert_eq!(ns.buckets().collect::<Vec<_>>(), vec![(15, 15, 11)]);
    }
}
