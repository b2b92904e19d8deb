//! Are repeats of one program slower than repeats of another? Welch's test on logarithms.
//!
//! Few repeats say nothing by their ranks: of three against three every order has a chance of at least a tenth. Their
//! figures are medians and sums of many calls, which are near normal once a ratio has become a difference.

use super::welch::{Sample, Welch};

/// Repeats are never known to agree better than this, however equal a few of them happen to be: the deviation of a run.
pub(super) const LEAST_DEVIATION: f64 = 0.002;

/// What two lists of repeats say about the ratio of what they are of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Repeated {
    /// Chance of means as far apart when nothing changed.
    pub(super) p_value: f64,
    /// Where the ratio lies with 95 % confidence; `None` where repeats stray so much that it lies anywhere.
    pub(super) interval: Option<(f64, f64)>,
}

/// The candidate's repeats over the baseline's; `None` unless both have two, all above 0.
pub(super) fn repeated(baseline: &[f64], candidate: &[f64]) -> Option<Repeated> {
    let found = Welch::new(&logarithms(baseline)?, &logarithms(candidate)?);
    let (difference, half) = (found.difference, found.half_width());
    Some(Repeated {
        p_value: found.p_value(),
        interval: Some(((difference - half).exp(), (difference + half).exp()))
            .filter(|(low, high)| *low > 0.0 && high.is_finite()),
    })
}

fn logarithms(values: &[f64]) -> Option<Sample> {
    let are_positive = values.iter().all(|value| *value > 0.0);
    let logarithms = values.iter().map(|value| value.ln()).collect();
    Sample::new(logarithms, |_| LEAST_DEVIATION).filter(|_| are_positive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_example() {
        // Logarithms 1 2 3 against 3 5 7: means 2 and 5, squared errors 1/3 and 4/3, t = 3/√(5/3) = 2.3238,
        // degrees (5/3)² / ((1/3)²/2 + (4/3)²/2) = 2.9412; t of 0.05 there is 3.2189 (interpolated in tables: 3.18 for 3, 4.30 for 2).
        let baseline = [1.0_f64, 2.0, 3.0].map(f64::exp);
        let candidate = [3.0_f64, 5.0, 7.0].map(f64::exp);
        let found = repeated(&baseline, &candidate).unwrap();
        // Between the chances of 2 degrees (1 − t/√(2 + t²) = 0.1457) and of 3 (0.1027 by tables), near the latter.
        assert!((0.1027..0.11).contains(&found.p_value), "{}", found.p_value);
        let (low, high) = found.interval.unwrap();
        assert!((low.ln() + high.ln() - 6.0).abs() < 1e-9);
        let half = (high.ln() - low.ln()) / 2.0 / (5.0_f64 / 3.0).sqrt();
        assert!((3.18..3.26).contains(&half), "{half}");
    }

    #[test]
    fn equal_repeats_are_not_infinitely_sure() {
        let found = repeated(&[100.0, 100.0], &[100.1, 100.1]).unwrap();
        assert!(found.p_value > 0.5, "{}", found.p_value);
        let anywhere = repeated(&[1.0, 1e250], &[1.0, 1e300]).unwrap();
        assert_eq!(anywhere.interval, None);
        assert_eq!(repeated(&[100.0], &[100.0, 101.0]), None);
        assert_eq!(repeated(&[100.0, 0.0], &[100.0, 101.0]), None);
    }

    #[test]
    fn two_repeats_are_enough_for_a_large_change() {
        let found = repeated(&[45.0, 45.5], &[428.0, 431.0]).unwrap();
        assert!(found.p_value < 0.001, "{}", found.p_value);
        let small = repeated(&[45.0, 45.9], &[46.0, 46.9]).unwrap();
        assert!(small.p_value > 0.1, "{}", small.p_value);
    }
}
