//! Do two samples come from one place? The rank test of Mann and Whitney.
//!
//! ```text
//! values     a 1   a 2   b 4   a 5   b 5   b 9
//! ranks        1     2     3  4.5   4.5     6       equal values share the mean of their ranks
//! a has the ranks 1, 2, 4.5: a sum of 7.5 of 21. How many ways of choosing 3 of these 6 ranks have a sum as low?
//! ```

use super::distributions::{normal_distance, normal_two_sided};
use crate::stats::float;

/// Up to so many values in both samples together every way of choosing ranks is counted; beyond, the normal approximation
/// says a tenth more than there is at most, near a chance of 0.01.
const EXACT: usize = 40;

/// Chance of ranks that are as unequal, in either direction, when both samples come from one place; `None` when one of
/// them is empty. Exact for small samples, also with equal values; corrected for equal values otherwise.
///
/// `inflation` is by how much neighbouring values that resemble one another make the variance of a mean larger than it
/// would be for as many values that do not: 1 for independent values.
pub(super) fn mann_whitney(a: &[f64], b: &[f64], inflation: f64) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let ranks = Ranks::new(a, b);
    let p =
        if a.len() + b.len() <= EXACT { ranks.exact() } else { normal_two_sided(ranks.distance()) };
    if inflation <= 1.0 {
        return Some(p);
    }
    Some(normal_two_sided(normal_distance(p) / inflation.sqrt()))
}

/// Ranks of two samples together, doubled, so that shared ones are whole numbers.
struct Ranks {
    /// Of every value, ascending.
    doubled: Vec<usize>,
    /// How many values share each rank.
    groups: Vec<usize>,
    n_first: usize,
    sum_of_first: usize,
}

impl Ranks {
    fn new(a: &[f64], b: &[f64]) -> Self {
        let first = a.iter().map(|value| (*value, true));
        let mut all: Vec<(f64, bool)> = first.chain(b.iter().map(|v| (*v, false))).collect();
        all.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut ranks = Self {
            doubled: Vec::with_capacity(all.len()),
            groups: Vec::new(),
            n_first: a.len(),
            sum_of_first: 0,
        };
        for equal in all.chunk_by(|x, y| x.0.total_cmp(&y.0).is_eq()) {
            let before = ranks.doubled.len();
            // Ranks before + 1 to before + n have this mean, doubled.
            let doubled = 2 * before + equal.len() + 1;
            ranks.sum_of_first += doubled * equal.iter().filter(|(_, is_first)| *is_first).count();
            ranks.doubled.extend(equal.iter().map(|_| doubled));
            ranks.groups.push(equal.len());
        }
        ranks
    }

    /// Counts, over all ways to choose as many ranks as the first sample has, those with a sum as low or as high.
    fn exact(&self) -> f64 {
        let total: usize = self.doubled.iter().sum();
        // ways[n][sum]: how many choices of n of the ranks seen so far have this sum.
        let mut ways = vec![vec![0.0; total + 1]; self.n_first + 1];
        ways[0][0] = 1.0;
        for (seen, rank) in self.doubled.iter().enumerate() {
            for n in (1..=self.n_first.min(seen + 1)).rev() {
                let (without, with) = ways.split_at_mut(n);
                let from = &without[n - 1];
                for sum in *rank..=total {
                    with[0][sum] += from[sum - rank];
                }
            }
        }
        let ways = &ways[self.n_first];
        let all: f64 = ways.iter().sum();
        let as_low: f64 = ways[..=self.sum_of_first].iter().sum();
        let as_high: f64 = ways[self.sum_of_first..].iter().sum();
        (2.0 * as_low.min(as_high) / all).min(1.0)
    }

    /// How far the sum of ranks is from its expectation, in standard deviations, less half a rank for continuity.
    fn distance(&self) -> f64 {
        let count = |n: usize| float(n as u64);
        let (n, first) = (count(self.doubled.len()), count(self.n_first));
        let second = n - first;
        let expected = first * (n + 1.0) / 2.0;
        let cube = |n: f64| n * n * n - n;
        let tied: f64 = self.groups.iter().map(|size| cube(count(*size))).sum();
        let variance = first * second / 12.0 * ((n + 1.0) - tied / (n * (n - 1.0)));
        if variance <= 0.0 {
            return 0.0;
        }
        let off = (count(self.sum_of_first) / 2.0 - expected).abs() - 0.5;
        off.max(0.0) / variance.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
    }

    #[test]
    fn small_samples_that_do_not_overlap_have_the_chance_of_one_order_in_all() {
        // 1 of C(6, 3) = 20 orders, and its mirror; 1 of C(10, 5) = 252.
        assert_close(mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], 1.0), 0.1);
        let low: Vec<f64> = (0..5).map(f64::from).collect();
        let high: Vec<f64> = (10..15).map(f64::from).collect();
        assert_close(mann_whitney(&low, &high, 1.0), 2.0 / 252.0);
    }

    #[test]
    fn the_exact_chance_is_that_of_the_tables() {
        // Published tables of U: for 5 and 5 values U ≤ 2 has the chance 0.0317 on both sides; ranks 1 2 3 5 6 are U = 2.
        let (a, b) = ([1.0, 2.0, 3.0, 5.0, 6.0], [4.0, 7.0, 8.0, 9.0, 10.0]);
        // Sums of 15, 16, 17 have 1, 1, 2 ways: 4 of 252 on one side.
        assert_close(mann_whitney(&a, &b, 1.0), 8.0 / 252.0);
    }

    #[test]
    fn equal_values_share_ranks_in_the_exact_count_too() {
        // Ranks 1.5 1.5 | 3 4: of the 6 ways to choose two, one has the sum 3 and one the sum 7.
        assert_close(mann_whitney(&[1.0, 1.0], &[2.0, 3.0], 1.0), 2.0 / 6.0);
        assert_eq!(mann_whitney(&[1.0, 1.0], &[1.0, 1.0], 1.0), Some(1.0));
    }

    #[test]
    fn the_drawn_example() {
        // Doubled ranks 2 4 6 9 9 12; sums of three as low as 15: {2,4,6} 12, {2,4,9} 15 twice: 3 of 20.
        let found = mann_whitney(&[1.0, 2.0, 5.0], &[4.0, 5.0, 9.0], 1.0);
        assert_close(found, 6.0 / 20.0);
    }

    #[test]
    fn large_samples_use_the_normal_distribution_with_shared_ranks() {
        // 30 zeros and 30 ones against 20 zeros and 40 ones, by hand: zeros have rank 25.5, ones rank 85.5;
        // sum of the first 30·25.5 + 30·85.5 = 3330, expected 60·121/2 = 3630;
        // variance 300·(121 − (50³ − 50 + 70³ − 70)/(120·119)) = 300·(121 − 32.7647…) = 26 470.6…, √ = 162.70;
        // (300 − 0.5)/162.70 = 1.8408: a chance of 0.06565.
        let half: Vec<f64> = (0..60).map(|i| f64::from(u8::from(i >= 30))).collect();
        let most: Vec<f64> = (0..60).map(|i| f64::from(u8::from(i >= 20))).collect();
        assert_close(mann_whitney(&half, &most, 1.0), 0.06565);
        // Neighbours that resemble one another so that four count as one: half the distance.
        assert_close(
            mann_whitney(&half, &most, 4.0),
            normal_two_sided(0.5 * normal_distance(0.06565)),
        );
    }

    #[test]
    fn exact_and_approximate_agree_where_they_meet() {
        let a: Vec<f64> = (0..20).map(|i| f64::from(i) * 2.0).collect();
        let b: Vec<f64> = (0..20).map(|i| f64::from(i) * 2.0 + 11.0).collect();
        let ranks = Ranks::new(&a, &b);
        let (exact, approximate) = (ranks.exact(), normal_two_sided(ranks.distance()));
        assert!((exact / approximate - 1.0).abs() < 0.15, "{exact} {approximate}");
    }

    #[test]
    fn which_side_comes_first_changes_nothing() {
        let (a, b) = ([3.0, 1.0, 4.0, 1.0, 5.0], [9.0, 2.0, 6.0]);
        assert_eq!(mann_whitney(&a, &b, 1.5), mann_whitney(&b, &a, 1.5));
        assert_eq!(mann_whitney(&a, &[], 1.0), None);
    }
}
