//! What are calls that were not looked at?

use crate::stats::float;

/// With fewer calls to go by, a slope is chance.
const MIN_CALLS: usize = 8;

/// Calls of a rank that were not looked at. Their number and their time are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unseen {
    pub(super) n_calls: u64,
    pub(super) total_ns: u64,
}

/// A sum over them, and its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Estimate {
    pub(super) sum_ns: u64,
    pub(super) error_ns: u64,
}

impl Estimate {
    /// That needs no estimate.
    pub(super) fn known(sum_ns: u64) -> Self {
        Self {
            sum_ns,
            error_ns: 0,
        }
    }
}

/// The standard error of a sum or difference.
pub(super) fn error_of_sum(one_ns: u64, other_ns: u64) -> u64 {
    let square = |ns: u64| u128::from(ns).pow(2);
    let both = square(one_ns).saturating_add(square(other_ns)).isqrt();
    u64::try_from(both).unwrap_or(u64::MAX)
}

impl Unseen {
    /// What a part of each comes to, as those calls tell that were looked at: of each the part, and its length. The first was not drawn, and
    /// tells nothing of others. W. G. Cochran, "Sampling Techniques" (1977), chapter 7: the linear regression estimate, which is at least as
    /// exact as one by the mean or by the share of the time, whether long calls have long parts or not.
    ///
    /// ```text
    /// part     |            *  .
    ///          |      * .  o         o   k calls that were not looked at, at their mean length
    ///          |   . *               sum   k (mean part + slope (mean length of these - mean length of those))
    ///          | *                   error √(N (N - n) / n · s²), s from the distances to the line
    ///          +------------------ length
    /// ```
    pub(super) fn estimate(self, looked_at: &[(u64, u64)]) -> Estimate {
        let total_ns = float(self.total_ns);
        if self.n_calls == 0 {
            return Estimate::default();
        }
        let drawn = looked_at.get(1..).unwrap_or_default();
        if drawn.len() < MIN_CALLS {
            let (part, length) = sums(looked_at);
            return Estimate {
                sum_ns: rounded(total_ns * part / length.max(1.0)),
                error_ns: self.total_ns,
            };
        }
        let n = float(drawn.len() as u64);
        let n_unseen = float(self.n_calls);
        let (part, length) = sums(drawn);
        let (mean_part, mean_length) = (part / n, length / n);
        let (mut of_lengths, mut of_both, mut of_parts) = (0.0, 0.0, 0.0);
        for (part, length) in drawn {
            let (part, length) = (float(*part) - mean_part, float(*length) - mean_length);
            of_lengths += length * length;
            of_both += length * part;
            of_parts += part * part;
        }
        let slope = if of_lengths > 0.0 {
            of_both / of_lengths
        } else {
            0.0
        };
        let mean_ns = mean_part + slope * (total_ns / n_unseen - mean_length);
        let variance = (of_parts - slope * of_both).max(0.0) / (n - 2.0);
        Estimate {
            sum_ns: rounded(n_unseen * mean_ns).min(self.total_ns),
            error_ns: rounded(((n + n_unseen) * n_unseen / n * variance).sqrt()),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts saturate: what is below zero is 0"
)]
fn rounded(ns: f64) -> u64 {
    ns.round() as u64
}

fn sums(calls: &[(u64, u64)]) -> (f64, f64) {
    let add =
        |sums: (f64, f64), call: &(u64, u64)| (sums.0 + float(call.0), sums.1 + float(call.1));
    calls.iter().fold((0.0, 0.0), add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first call, which tells nothing, and eight more.
    fn looked_at(parts: [u64; 8], lengths: [u64; 8]) -> Vec<(u64, u64)> {
        let drawn = parts.into_iter().zip(lengths);
        std::iter::once((7, 900)).chain(drawn).collect()
    }

    #[test]
    fn parts_on_a_line_are_known_exactly() {
        // part = length / 2 + 3; of 4 more calls with a length of 100 together 62.
        let lengths = [10, 12, 14, 16, 18, 20, 22, 24];
        let calls = looked_at(lengths.map(|length| length / 2 + 3), lengths);
        let unseen = Unseen {
            n_calls: 4,
            total_ns: 100,
        };
        let expected = Estimate {
            sum_ns: 62,
            error_ns: 0,
        };
        assert_eq!(unseen.estimate(&calls), expected);
    }

    #[test]
    fn the_error_is_that_of_distances_to_the_line() {
        // Lengths tell nothing: parts 4 and 6 in turn at equal lengths. s² = 8 / (8 - 2); N 24, n 8: √(24 · 16 / 8 · 8 / 6) = 8.
        let calls = looked_at([4, 6, 4, 6, 4, 6, 4, 6], [10; 8]);
        let unseen = Unseen {
            n_calls: 16,
            total_ns: 160,
        };
        let expected = Estimate {
            sum_ns: 80,
            error_ns: 8,
        };
        assert_eq!(unseen.estimate(&calls), expected);
    }

    #[test]
    fn a_part_is_no_more_than_all_and_of_few_calls_nothing_is_sure() {
        let unseen = Unseen {
            n_calls: 4,
            total_ns: 20,
        };
        // Parts of 10 each would come to 40.
        let calls = looked_at([10; 8], [10, 20, 10, 20, 10, 20, 10, 20]);
        assert_eq!(unseen.estimate(&calls).sum_ns, 20);
        // Half of the time of the two.
        let expected = Estimate {
            sum_ns: 10,
            error_ns: 20,
        };
        assert_eq!(unseen.estimate(&[(10, 30), (10, 10)]), expected);
        assert_eq!(Unseen::default().estimate(&calls), Estimate::default());
    }
}
