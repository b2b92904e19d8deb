//! Figures of durations and of other amounts.

use serde::Serialize;

use crate::stats::{float, mean, percentile, rate, sample_std_dev, sum};

/// Figures of durations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Durations {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// Shortest.
    pub min_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Longest.
    pub max_ns: u64,
    /// The median: of an even number the mean of the middle two.
    pub p50_ns: u64,
    /// 95 % took no longer.
    pub p95_ns: u64,
    /// 99 % took no longer.
    pub p99_ns: u64,
    /// Sample standard deviation; `None` for fewer than two.
    pub std_dev_ns: Option<f64>,
}

impl Durations {
    /// `None` when there are none.
    pub(crate) fn of(durations: impl Iterator<Item = u64>) -> Option<Self> {
        let mut sorted: Vec<u64> = durations.collect();
        sorted.sort_unstable();
        Some(Self {
            count: sorted.len() as u64,
            total_ns: sum(sorted.iter().copied()),
            min_ns: *sorted.first()?,
            mean_ns: mean(&sorted)?,
            max_ns: *sorted.last()?,
            p50_ns: percentile(&sorted, 0.50)?,
            p95_ns: percentile(&sorted, 0.95)?,
            p99_ns: percentile(&sorted, 0.99)?,
            std_dev_ns: sample_std_dev(&sorted),
        })
    }

    /// How many in a second of their time; `None` when they took none.
    pub(crate) fn per_second(&self) -> Option<f64> {
        rate(self.count, self.total_ns)
    }
}

/// Lowest, mean and highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Spread {
    /// Lowest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Highest.
    pub max: f64,
}

impl Spread {
    /// Of the finite ones; `None` when there are none.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let finite: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let n = float(finite.len() as u64);
        let mean = finite.iter().sum::<f64>() / n;
        Some(Self {
            min: finite.iter().copied().reduce(f64::min)?,
            // The sum of the largest numbers is none.
            mean: if mean.is_finite() { mean } else { finite.iter().map(|value| value / n).sum() },
            max: finite.iter().copied().reduce(f64::max)?,
        })
    }
}

/// Mean of the absolute differences of neighbours; `None` with fewer than two values.
pub(super) fn jitter<'a>(series: impl Iterator<Item = &'a [u64]>) -> Option<f64> {
    let neighbours = series.flat_map(|values| values.windows(2));
    let differences: Vec<u64> = neighbours.map(|pair| pair[0].abs_diff(pair[1])).collect();
    mean(&differences)
}

/// Differences of neighbours of an ascending series.
pub(super) fn between(ends: &[u64]) -> Vec<u64> {
    let neighbours = ends.windows(2);
    neighbours.map(|pair| pair[1].saturating_sub(pair[0])).collect()
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use super::*;

    #[test]
    fn durations_have_nearest_rank_percentiles() {
        let found = Durations::of((1..=100).rev()).unwrap();
        assert_eq!((found.count, found.total_ns), (100, 5050));
        assert_eq!((found.min_ns, found.mean_ns, found.max_ns), (1, 50.5, 100));
        assert_eq!((found.p50_ns, found.p95_ns, found.p99_ns), (50, 95, 99));
        assert_eq!(Durations::of(std::iter::empty()), None);
    }

    #[test]
    fn the_longest_durations_do_not_overflow() {
        let found = Durations::of([u64::MAX, u64::MAX].into_iter()).unwrap();
        assert_eq!((found.total_ns, found.max_ns), (u64::MAX, u64::MAX));
        assert_eq!(found.std_dev_ns, Some(0.0));
    }

    #[test]
    fn a_spread_passes_over_what_is_no_number() {
        let values = [3.0, f64::NAN, 5.0, f64::INFINITY, 10.0];
        let found = Spread::of(values.into_iter()).unwrap();
        assert_eq!((found.min, found.mean, found.max), (3.0, 6.0, 10.0));
        assert_eq!(Spread::of([f64::NAN].into_iter()), None);
        let extreme = Spread::of([f64::MAX, f64::MAX].into_iter()).unwrap();
        assert_eq!(extreme.mean, f64::MAX);
    }

    #[test]
    fn jitter_is_of_neighbours_within_a_series() {
        // 10 → 14 → 11: 4 and 3; between the series is nothing.
        let series: [&[u64]; 2] = [&[10, 14, 11], &[100]];
        assert_eq!(jitter(series.into_iter()), Some(3.5));
        assert_eq!(jitter([[1_u64].as_slice()].into_iter()), None);
        assert_eq!(between(&[3, 5, 9]), [2, 4]);
    }
}
