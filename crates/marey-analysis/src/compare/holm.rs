//! Many tests at once: how likely is one false alarm in all of them?
//!
//! Holm's correction holds whatever the tests have to do with one another, and they have much: a section, what it is
//! within, and the loop around it are slow together. (Benjamini and Hochberg's bounds the share of false alarms among all
//! alarms, which would let a check fail on two unchanged runs more often than the user asked for.) Tests have weights: a
//! section that takes most of the time gets most of the allowed chance.

/// A test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Test {
    pub(super) p_value: f64,
    /// Above 0.
    pub(super) weight: f64,
}

/// Chances after correction, in the same order: Holm's weighted procedure. With equal weights the smallest of `n` is
/// multiplied by `n`, the next by `n − 1`, and none becomes smaller than one before it.
pub(super) fn holm(tests: &[Test]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..tests.len()).collect();
    let ratio = |at: usize| tests[at].p_value / tests[at].weight;
    order.sort_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
    // The weight of a test and of all that come after it.
    let mut left: Vec<f64> = order.iter().map(|at| tests[*at].weight).collect();
    for at in (1..left.len()).rev() {
        left[at - 1] += left[at];
    }
    let mut adjusted = vec![1.0; tests.len()];
    let mut highest: f64 = 0.0;
    for (at, left) in order.into_iter().zip(left) {
        highest = highest.max(ratio(at) * left).min(1.0);
        adjusted[at] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(p_values: &[f64]) -> Vec<f64> {
        let test = |p_value: &f64| Test { p_value: *p_value, weight: 1.0 };
        holm(&p_values.iter().map(test).collect::<Vec<_>>())
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        let pairs = found.iter().zip(expected);
        assert!(
            found.len() == expected.len() && pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9),
            "{found:?}"
        );
    }

    #[test]
    fn the_smallest_is_multiplied_by_the_number_of_tests_the_next_by_one_less() {
        // 0.01·4, 0.02·3 = 0.06, 0.03·2 = 0.06, 0.04 would be smaller: 0.06.
        assert_close(&of(&[0.04, 0.01, 0.03, 0.02]), &[0.06, 0.04, 0.06, 0.06]);
        assert_close(&of(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        assert_close(&of(&[0.5, 0.9]), &[1.0, 1.0]);
        assert_close(&of(&[]), &[]);
    }

    #[test]
    fn heavier_tests_are_multiplied_by_less() {
        // Weights 3 and 1: 0.01/3·4, then what is left is 1: 0.02.
        let found =
            holm(&[Test { p_value: 0.01, weight: 3.0 }, Test { p_value: 0.02, weight: 1.0 }]);
        assert_close(&found, &[0.04 / 3.0, 0.02]);
    }
}
