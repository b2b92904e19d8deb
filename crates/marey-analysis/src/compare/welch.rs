//! Welch's test: are the means of two samples apart by more than chance, and by how much at least?

use super::distributions::{student_distance, student_two_sided};
use crate::stats::float;

/// Chance of a false alarm.
const ALPHA: f64 = 0.05;
/// Twice the chance of missing a change that [`Welch::detectable`] says would be found: a power of 80 %.
const MISSED: f64 = 0.4;

/// Nobody makes more runs.
const MOST_VALUES: u64 = 1000;

/// Count, mean and variance of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    n: f64,
    pub(super) mean: f64,
    variance: f64,
}

impl Sample {
    /// `None` of fewer than two values. `least_deviation` is what they are known to stray at least, however well a few of them agree.
    pub(super) fn new(mut values: Vec<f64>, least_deviation: impl Fn(f64) -> f64) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        // Sums depend on the order of what is added in their last digit.
        values.sort_by(f64::total_cmp);
        let n = float(values.len() as u64);
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self { n, mean, variance: (squares / (n - 1.0)).max(least_deviation(mean).powi(2)) })
    }

    fn squared_error(&self) -> f64 {
        self.variance / self.n
    }
}

/// What two samples say of the difference of their means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Welch {
    /// Of the second less that of the first.
    pub(super) difference: f64,
    error: f64,
    degrees: f64,
    /// Variance of a value, mean of both samples.
    variance: f64,
}

impl Welch {
    pub(super) fn new(before: &Sample, after: &Sample) -> Self {
        let (of_a, of_b) = (before.squared_error(), after.squared_error());
        let part = |squared: f64, n: f64| squared * squared / (n - 1.0);
        Self {
            difference: after.mean - before.mean,
            error: (of_a + of_b).sqrt(),
            degrees: (of_a + of_b).powi(2) / (part(of_a, before.n) + part(of_b, after.n)),
            variance: f64::midpoint(before.variance, after.variance),
        }
    }

    /// Chance of means as far apart when nothing changed.
    pub(super) fn p_value(&self) -> f64 {
        student_two_sided(self.difference / self.error, self.degrees)
    }

    /// The difference lies within so much of what was measured with 95 % confidence.
    pub(super) fn half_width(&self) -> f64 {
        student_distance(ALPHA, self.degrees) * self.error
    }

    /// The smallest difference that would have been found with a chance of 80 %.
    pub(super) fn detectable(&self) -> f64 {
        let quantiles =
            student_distance(ALPHA, self.degrees) + student_distance(MISSED, self.degrees);
        quantiles * self.error
    }

    /// How many values each sample needs for a difference of this size to be found with a chance of 80 %; `None` beyond 1000.
    pub(super) fn n_for(&self, difference: f64) -> Option<u64> {
        let is_found = |n: u64| {
            let degrees = float(2 * n - 2);
            let quantiles = student_distance(ALPHA, degrees) + student_distance(MISSED, degrees);
            quantiles * (2.0 * self.variance / float(n)).sqrt() <= difference
        };
        let (mut too_few, mut enough) = (1, MOST_VALUES);
        if !is_found(enough) {
            return None;
        }
        while too_few + 1 < enough {
            let middle = u64::midpoint(too_few, enough);
            if is_found(middle) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        Some(enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn welch(before: &[f64], after: &[f64]) -> Welch {
        let sample = |values: &[f64]| Sample::new(values.to_vec(), |_| 0.0).unwrap();
        Welch::new(&sample(before), &sample(after))
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-3, "{found} is not {expected}");
    }

    #[test]
    fn a_known_example() {
        // 1 2 3 against 3 5 7: means 2 and 5, squared errors 1/3 and 4/3, so t = 3/√(5/3) = 2.3238 with
        // (5/3)² / ((1/3)²/2 + (4/3)²/2) = 2.9412 degrees; its 95 % quantile is 3.2189 (between 4.303 of 2 and 3.182 of 3).
        let found = welch(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]);
        assert_near(found.difference, 3.0);
        assert_near(found.degrees, 50.0 / 17.0);
        assert_near(found.half_width(), 3.2189 * (5.0_f64 / 3.0).sqrt());
        assert!((0.1027..0.11).contains(&found.p_value()));
    }

    #[test]
    fn what_would_have_been_found_is_a_power_of_four_in_five() {
        // Deviation 1 in 5 against 5: error √(2/5), 8 degrees. Quantiles of tables: 2.3060 (95 %), 0.8889 (80 %, one side).
        let values = |centre: f64| [-1.0, -1.0, 0.0, 1.0, 1.0].map(|value| centre + value);
        let found = welch(&values(100.0), &values(100.0));
        assert_near(found.half_width(), 2.3060 * 0.4_f64.sqrt());
        assert_near(found.detectable(), (2.3060 + 0.8889) * 0.4_f64.sqrt());
        // For 1: (2.0369 + 0.8530) · √(2/17) = 0.991 with 32 degrees; with 16 values (30 degrees) (2.0423 + 0.8538) · √(2/16) = 1.024.
        assert_eq!(found.n_for(1.0), Some(17));
        assert_eq!(found.n_for(1e-6), None);
    }

    #[test]
    fn values_that_agree_stray_by_the_least_deviation() {
        let sample = |value: f64| Sample::new(vec![value; 3], |mean| 0.002 * mean).unwrap();
        // Deviation 0.2 and 0.2: error 0.2 · √(2/3), 4 degrees, quantile 2.7764.
        let found = Welch::new(&sample(100.0), &sample(100.0));
        assert_near(found.half_width(), 2.7764 * 0.2 * (2.0_f64 / 3.0).sqrt());
        assert_eq!(Sample::new(vec![1.0], |_| 0.0), None);
    }
}
