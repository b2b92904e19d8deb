//! Figures of a list of numbers, defined also for short lists.

use std::collections::BTreeMap;

/// Mean of the values; `None` when there are none.
pub fn mean(values: &[u64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let sum: u128 = values.iter().copied().map(u128::from).sum();
    Some(ratio(sum, values.len() as u128))
}

/// Median of ascending values: the middle one, or the mean of the middle two; `None` when there are none.
pub fn median(sorted: &[u64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(ratio(u128::from(lower) + u128::from(upper), 2))
}

/// The same of values in any order.
pub(crate) fn median_of(values: impl Iterator<Item = u64>) -> Option<f64> {
    let mut sorted: Vec<u64> = values.collect();
    sorted.sort_unstable();
    median(&sorted)
}

/// A quantile (0 to 1) of ascending values: a value of nearest rank, the median between the middle two ([`marey::quantile_ranks`]).
/// `None` when there are none.
pub fn percentile(sorted: &[u64], quantile: f64) -> Option<u64> {
    let (lower, upper) = marey::quantile_ranks(sorted.len() as u64, quantile);
    let ranked = |rank: u64| sorted.get(usize::try_from(rank).ok()? - 1).copied();
    Some(ranked(lower)?.midpoint(ranked(upper)?))
}

/// Standard deviation of the values as a sample (divided by n − 1); `None` when there are fewer than two.
pub fn sample_std_dev(values: &[u64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let mean = mean(values)?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a relative error of 2^-53 does not show in a deviation"
    )]
    let squares: f64 = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum();
    #[expect(clippy::cast_precision_loss, reason = "lists stay far below 2^53 values")]
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// `part / whole` as a float. `whole` is not 0.
#[expect(clippy::cast_precision_loss, reason = "figures for people: 2^-53 relative")]
pub(crate) fn ratio(part: u128, whole: u128) -> f64 {
    part as f64 / whole as f64
}

/// Sum of times or of things, at most what fits.
pub(crate) fn sum(amounts: impl Iterator<Item = u64>) -> u64 {
    amounts.fold(0, u64::saturating_add)
}

/// Things in a second; `None` when they took no time.
pub(crate) fn rate(amount: u64, over_ns: u64) -> Option<f64> {
    let scaled = u128::from(amount) * 1_000_000_000;
    (over_ns > 0).then(|| ratio(scaled, over_ns.into()))
}

/// A number of things or nanoseconds as a float.
#[expect(clippy::cast_precision_loss, reason = "figures for people: 2^-53 relative")]
pub fn float(number: u64) -> f64 {
    number as f64
}

/// A number of 0 or more, without what is behind the point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length of time or a size; saturates"
)]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// A share, 0 to 1, of whole nanoseconds.
pub(crate) fn part_of(ns: u64, share: f64) -> u64 {
    whole(float(ns) * share.clamp(0.0, 1.0))
}

/// What things of one key add up to.
pub(crate) fn sums_by<K: Ord, const N: usize>(
    each: impl Iterator<Item = (K, [u64; N])>,
) -> BTreeMap<K, [u64; N]> {
    let mut sums = BTreeMap::new();
    for (key, figures) in each {
        add(sums.entry(key).or_insert([0; N]), figures);
    }
    sums
}

/// Adds figures to sums, each to its own.
pub(crate) fn add<const N: usize>(sums: &mut [u64; N], figures: [u64; N]) {
    for (sum, figure) in sums.iter_mut().zip(figures) {
        *sum = sum.saturating_add(figure);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_has_no_figures() {
        assert_eq!(mean(&[]), None);
        assert_eq!(median(&[]), None);
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!(sample_std_dev(&[]), None);
    }

    #[test]
    fn one_value_is_its_own_mean_and_percentile_and_has_no_deviation() {
        assert_eq!(mean(&[7]), Some(7.0));
        assert_eq!(median(&[7]), Some(7.0));
        assert_eq!(percentile(&[7], 0.0), Some(7));
        assert_eq!(percentile(&[7], 0.99), Some(7));
        assert_eq!(sample_std_dev(&[7]), None);
    }

    #[test]
    fn the_median_of_an_even_list_is_the_mean_of_the_middle_two() {
        assert_eq!(median(&[1, 2, 5, 9]), Some(3.5));
        assert_eq!(median(&[1, 2, 5]), Some(2.0));
    }

    #[test]
    fn percentiles_are_values_of_the_list_and_the_median_lies_in_its_middle() {
        let hundred: Vec<u64> = (1..=100).collect();
        // Between 50 and 51, to the ns below.
        assert_eq!(percentile(&hundred, 0.50), Some(50));
        assert_eq!(percentile(&[10, 20], 0.50), Some(15));
        assert_eq!(percentile(&hundred, 0.95), Some(95));
        assert_eq!(percentile(&hundred, 0.99), Some(99));
        assert_eq!(percentile(&hundred, 1.0), Some(100));
        assert_eq!(percentile(&[10, 20, 30], 0.5), Some(20));
        assert_eq!(percentile(&[10, 20, 30], 0.95), Some(30));
    }

    #[test]
    fn the_deviation_of_a_known_sample() {
        // mean 5, squared distances 9 1 1 1 0 0 4 16 = 32, divided by 7
        let found = sample_std_dev(&[2, 4, 4, 4, 5, 5, 7, 9]).unwrap();
        assert!((found - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(sample_std_dev(&[3, 3, 3]), Some(0.0));
    }

    #[test]
    fn sums_beyond_64_bits_do_not_overflow() {
        let largest = [u64::MAX, u64::MAX];
        let expected = 18_446_744_073_709_551_615.0;
        assert_eq!(mean(&largest), Some(expected));
        assert_eq!(median(&largest), Some(expected));
    }
}
