//! What is a figure over ranks: lowest, middle, highest, and who has that?

use std::cmp::Ordering;

use serde::Serialize;

use crate::stats::{float, mean, median, ratio};

/// A figure over ranks. Ranks by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OverRanks {
    /// Ranks that have it.
    pub n_ranks: u64,
    /// Lowest.
    pub min_ns: u64,
    /// Middle one, or mean of the middle two.
    pub median_ns: f64,
    /// Mean.
    pub mean_ns: f64,
    /// Highest.
    pub max_ns: u64,
    /// The rank that has the highest; the first of equals.
    pub slowest: u32,
    /// Highest less lowest.
    pub spread_ns: u64,
    /// `spread_ns` as a share of the median; `None` when that is 0.
    pub spread_ratio: Option<f64>,
}

/// Of a figure of each rank, by place; `None` when no rank has it. Sorts once.
///
/// ```text
/// rank 0   |----------|             10
/// rank 1   |---------------|        15   slowest
/// rank 2   |------------|           12   min 10, median 12, mean 12.33, max 15, spread 5
/// ```
pub(super) fn over_ranks(of_each: &[(u32, u64)]) -> Option<OverRanks> {
    let mut sorted: Vec<u64> = of_each.iter().map(|(_, value)| *value).collect();
    sorted.sort_unstable();
    let (min_ns, max_ns) = (*sorted.first()?, *sorted.last()?);
    let slowest = of_each.iter().filter(|(_, value)| *value == max_ns);
    let median_ns = median(&sorted)?;
    let spread_ns = max_ns - min_ns;
    Some(OverRanks {
        n_ranks: sorted.len() as u64,
        min_ns,
        median_ns,
        mean_ns: mean(&sorted)?,
        max_ns,
        slowest: slowest.map(|(place, _)| *place).min()?,
        spread_ns,
        spread_ratio: (median_ns > 0.0).then(|| float(spread_ns) / median_ns),
    })
}

/// `sum / count`, rounded to the nearest; `None` when there is nothing to share out.
pub(super) fn rounded_mean(sum: u64, count: u64) -> Option<u64> {
    let half_up = u128::from(sum) + u128::from(count / 2);
    u64::try_from(half_up.checked_div(count.into())?).ok()
}

/// The middle one, or the lower of the middle two; `None` of none.
pub(super) fn lower_median<T: Copy>(
    mut values: Vec<T>,
    order: impl Fn(&T, &T) -> Ordering,
) -> Option<T> {
    values.sort_by(order);
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// `part` of `whole`, 0 to 1; `None` of nothing.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| ratio(part.into(), whole.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equally_slow_ranks_is_named() {
        let found = over_ranks(&[(0, 10), (1, 15), (2, 12), (3, 15)]).unwrap();
        let expected = OverRanks {
            n_ranks: 4,
            min_ns: 10,
            median_ns: 13.5,
            mean_ns: 13.0,
            max_ns: 15,
            slowest: 1,
            spread_ns: 5,
            spread_ratio: Some(5.0 / 13.5),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn no_rank_has_no_figure_and_a_median_of_0_no_ratio() {
        assert_eq!(over_ranks(&[]), None);
        assert_eq!(over_ranks(&[(7, 0)]).unwrap().spread_ratio, None);
    }

    #[test]
    fn means_are_rounded_and_bear_the_largest_numbers() {
        assert_eq!(rounded_mean(10, 4), Some(3));
        assert_eq!(rounded_mean(9, 4), Some(2));
        assert_eq!(rounded_mean(1, 0), None);
        assert_eq!(rounded_mean(u64::MAX, 1), Some(u64::MAX));
        assert_eq!(rounded_mean(u64::MAX, u64::MAX), Some(1));
    }
}
