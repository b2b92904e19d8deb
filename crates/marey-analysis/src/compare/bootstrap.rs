//! Where does a ratio of medians or means lie, when calls that follow one another resemble each other?
//!
//! ```text
//! calls        1 2 3 4 5 6 7 8 9       in order of time
//! blocks       |7 8 9| |2 3 4| |9 1 2|    drawn at random, around the end too: a resample as long as the calls
//! ```
//!
//! Blocks keep neighbours together, so that a resample is as uneven as the calls are (circular block bootstrap).

use super::random::Random;
use crate::stats::float;

/// Which figure of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Median,
    Mean,
}

impl Statistic {
    /// The figure; `None` without values. Puts the values into another order.
    pub(super) fn of(self, values: &mut [f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        let n = values.len();
        if self == Self::Mean {
            return Some(values.iter().sum::<f64>() / float(n as u64));
        }
        let (below, upper, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
        let upper = *upper;
        if n % 2 == 1 {
            return Some(upper);
        }
        let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
        Some(f64::midpoint(lower, upper))
    }
}

/// How much calls resemble the call before them, 0 to 0.9: the correlation of neighbours' ranks, both samples together,
/// corrected for its bias in short series. Ranks, so that one very slow call does not hide it.
pub(super) fn autocorrelation(a: &[f64], b: &[f64]) -> f64 {
    let (mut products, mut squares) = (0.0, 0.0);
    for ranks in [centred_ranks(a), centred_ranks(b)] {
        products += ranks.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += ranks.iter().map(|rank| rank * rank).sum::<f64>();
    }
    if squares <= 0.0 {
        return 0.0;
    }
    let found = products / squares;
    let n = float((a.len() + b.len()) as u64) / 2.0;
    (found + (1.0 + 4.0 * found) / n).clamp(0.0, 0.9)
}

/// By how much the variance of a mean is larger than that of as many independent values.
pub(super) fn inflation(autocorrelation: f64) -> f64 {
    (1.0 + autocorrelation) / (1.0 - autocorrelation)
}

fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let middle = (float(values.len() as u64) - 1.0) / 2.0;
    let mut before = 0;
    for equal in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let rank = float(before) + (float(equal.len() as u64) - 1.0) / 2.0 - middle;
        for at in equal {
            ranks[*at] = rank;
        }
        before += equal.len() as u64;
    }
    ranks
}

/// How the figures of two samples were resampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bootstrap {
    pub(super) statistic: Statistic,
    pub(super) n_resamples: u32,
    pub(super) seed: u64,
}

impl Bootstrap {
    /// Where the figure of `b` over that of `a` lies with 95 % confidence; `None` unless both have two values, all above 0.
    pub(super) fn ratio_interval(&self, a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
        let is_usable = |values: &[f64]| values.len() >= 2 && values.iter().all(|v| *v > 0.0);
        if !is_usable(a) || !is_usable(b) || self.n_resamples == 0 {
            return None;
        }
        let autocorrelation = autocorrelation(a, b);
        let (of_a, of_b) = (self.resampled(a, autocorrelation), self.resampled(b, autocorrelation));
        let mut ratios: Vec<f64> = of_a.iter().zip(&of_b).map(|(a, b)| b / a).collect();
        ratios.sort_by(f64::total_cmp);
        // As many are cut off below as above, so that sides that change places get the same interval upside down.
        let n_cut = ratios.len() / 40;
        Some((ratios[n_cut], ratios[ratios.len() - 1 - n_cut]))
    }

    fn resampled(&self, values: &[f64], autocorrelation: f64) -> Vec<f64> {
        let mut random = Random::for_values(self.seed, values);
        let block = block_length(values.len(), autocorrelation);
        let mut drawn = Vec::with_capacity(values.len() + block);
        (0..self.n_resamples)
            .filter_map(|_| {
                drawn.clear();
                while drawn.len() < values.len() {
                    let start = random.below(values.len());
                    let left = block.min(values.len() - drawn.len());
                    drawn.extend((start..start + left).map(|at| values[at % values.len()]));
                }
                self.statistic.of(&mut drawn)
            })
            .collect()
    }
}

/// The length of blocks that is best for the variance of a mean of values which resemble the one before them so much
/// (a first-order autoregression): (6 r² / (1 − r²)²)^⅓ · n^⅓, at most a third of the values.
fn block_length(n: usize, autocorrelation: f64) -> usize {
    let r = autocorrelation;
    let best = (6.0 * (r / (1.0 - r * r)).powi(2) * float(n as u64)).cbrt();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and the number of values"
    )]
    let length = best.round().clamp(1.0, float((n / 3).max(1) as u64)) as usize;
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEDIANS: Bootstrap =
        Bootstrap { statistic: Statistic::Median, n_resamples: 2000, seed: 1 };

    /// Values around 100 that each keep so much of the one before.
    fn series(seed: u64, n: usize, keep: f64) -> Vec<f64> {
        let mut random = Random::for_values(seed, &[]);
        let mut uniform = || float(random.next() >> 11) / float(1 << 53);
        let mut at = 0.0;
        (0..n)
            .map(|_| {
                // The sum of twelve uniform numbers is nearly normal, with a deviation of 1.
                let noise: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                at = keep * at + (1.0 - keep * keep).sqrt() * noise;
                100.0 + 3.0 * at
            })
            .collect()
    }

    #[test]
    fn medians_are_the_middle_value_or_the_mean_of_the_middle_two() {
        assert_eq!(Statistic::Median.of(&mut [5.0, 1.0, 9.0]), Some(5.0));
        assert_eq!(Statistic::Median.of(&mut [5.0, 1.0, 9.0, 7.0]), Some(6.0));
        assert_eq!(Statistic::Mean.of(&mut [1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(Statistic::Median.of(&mut []), None);
    }

    #[test]
    fn neighbours_that_resemble_one_another_are_noticed() {
        let alone = autocorrelation(&series(1, 400, 0.0), &series(2, 400, 0.0));
        let alike = autocorrelation(&series(3, 400, 0.6), &series(4, 400, 0.6));
        assert!(alone < 0.08, "{alone}");
        assert!((0.5..0.7).contains(&alike), "{alike}");
        assert!((inflation(0.5) - 3.0).abs() < 1e-12);
        assert_eq!(autocorrelation(&[1.0, 1.0], &[]).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn blocks_grow_with_resemblance_and_with_the_cube_root_of_the_calls() {
        assert_eq!(block_length(1000, 0.0), 1);
        // r = 0.5: (6 · (0.5 / 0.75)² · 1000)^⅓ = (2666.7)^⅓ = 13.9
        assert_eq!(block_length(1000, 0.5), 14);
        assert_eq!(block_length(9, 0.9), 3);
    }

    #[test]
    fn an_interval_of_means_is_as_wide_as_the_normal_approximation_says() {
        // Independent values with a deviation of 3 %: a ratio of means of 200 values each has 3 % · √(2/200) = 0.3 %.
        let means = Bootstrap { statistic: Statistic::Mean, ..MEDIANS };
        let (low, high) = means.ratio_interval(&series(5, 200, 0.0), &series(6, 200, 0.0)).unwrap();
        let half = (high - low) / 2.0;
        assert!((0.0045..0.0075).contains(&half), "{half}");
        // Values that keep 0.6 of the one before count as a quarter as many: twice as wide.
        let (low, high) = means.ratio_interval(&series(7, 800, 0.6), &series(8, 800, 0.6)).unwrap();
        let half = (high - low) / 2.0;
        assert!((0.0042..0.0078).contains(&half), "{half}");
    }

    #[test]
    fn intervals_hold_the_truth_about_as_often_as_they_say() {
        let mut held = 0;
        for trial in 0..200 {
            let (a, b) = (series(100 + trial, 40, 0.3), series(900 + trial, 40, 0.3));
            let bootstrap = Bootstrap { n_resamples: 300, ..MEDIANS };
            let (low, high) = bootstrap.ratio_interval(&a, &b).unwrap();
            held += u32::from(low <= 1.0 && 1.0 <= high);
        }
        // 95 % of 200 is 190, with a deviation of 3; blocks in short series lose some.
        assert!(held >= 178, "{held} of 200");
    }

    #[test]
    fn sides_that_change_places_have_the_interval_upside_down() {
        let (a, b) = (series(10, 30, 0.3), series(11, 25, 0.3));
        let (low, high) = MEDIANS.ratio_interval(&a, &b).unwrap();
        let (swapped_low, swapped_high) = MEDIANS.ratio_interval(&b, &a).unwrap();
        assert!(
            (low * swapped_high - 1.0).abs() < 1e-12 && (high * swapped_low - 1.0).abs() < 1e-12
        );
    }

    #[test]
    fn values_that_make_no_ratio_have_no_interval() {
        assert_eq!(MEDIANS.ratio_interval(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(MEDIANS.ratio_interval(&[0.0, 1.0], &[1.0, 2.0]), None);
    }
}
