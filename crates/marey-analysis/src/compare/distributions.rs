//! How likely are values as far out as this one: the normal distribution and Student's t.

/// Chance of a standard normal value at least as far from 0 as `z`, on either side.
pub(super) fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The value that a standard normal one is further from 0 than with chance `p` (0 to 1), on either side.
pub(super) fn normal_distance(p: f64) -> f64 {
    bisected(|z| normal_two_sided(z) > p)
}

/// Chance of a value of Student's t at least as far from 0 as `t`, on either side.
pub(super) fn student_two_sided(t: f64, degrees: f64) -> f64 {
    if !t.is_finite() {
        return 0.0;
    }
    incomplete_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// The value that one of Student's t is further from 0 than with chance `p`, on either side.
pub(super) fn student_distance(p: f64, degrees: f64) -> f64 {
    bisected(|t| student_two_sided(t, degrees) > p)
}

/// The largest number that is still too small, when `is_too_small` says yes up to some number and no from there on.
fn bisected(is_too_small: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while is_too_small(high) && high < 1e12 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if is_too_small(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The complementary error function of a number that is not below 0: its power series near 0, its continued fraction
/// further out.
fn erfc(x: f64) -> f64 {
    if x < 2.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..80 {
            let n = f64::from(n);
            term *= -x * x / n;
            sum += term / (2.0 * n + 1.0);
        }
        return 1.0 - sum * std::f64::consts::FRAC_2_SQRT_PI;
    }
    // erfc x = e^(−x²) / √π · 1/(x + ½/(x + 1/(x + 3/2/(x + …))))
    let tail = (1..=60).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-x * x).exp() / tail * (std::f64::consts::FRAC_2_SQRT_PI / 2.0)
}

/// The regularised incomplete beta function, by its continued fraction on the side where that converges quickly.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    // 1 + d1/(1 + d2/(1 + …)), from the innermost term outwards.
    let coefficient = |n: u32| {
        let m = f64::from(n / 2);
        if n.is_multiple_of(2) {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        }
    };
    let fraction = (1..=400).rev().fold(1.0, |below, n| 1.0 + coefficient(n) / below);
    front.exp() / (a * fraction)
}

/// Logarithm of the gamma function: Stirling's series, after the argument was made large enough for it.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64) {
        let error = (found / expected - 1.0).abs();
        assert!(error < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn the_normal_distribution_is_that_of_the_tables() {
        assert_close(normal_two_sided(0.0), 1.0);
        assert_close(normal_two_sided(1.0), 0.317_310_507_863);
        assert_close(normal_two_sided(1.959_963_984_540), 0.05);
        assert_close(normal_two_sided(-3.0), 0.002_699_796_063);
        assert_close(normal_two_sided(6.0), 1.973_175_290e-9);
        assert_close(normal_distance(0.05), 1.959_963_984_540);
        assert_close(normal_distance(0.01), 2.575_829_303_549);
    }

    #[test]
    fn students_distribution_is_that_of_the_tables() {
        // One degree of freedom is Cauchy's: 1 − 2/π · atan t.
        assert_close(student_two_sided(1.0, 1.0), 0.5);
        assert_close(student_two_sided(12.706_204_736, 1.0), 0.05);
        assert_close(student_two_sided(2.776_445_105, 4.0), 0.05);
        assert_close(student_two_sided(3.355_387_331, 8.0), 0.01);
        assert_close(student_distance(0.05, 8.0), 2.306_004_135);
        // Two degrees have a closed form: 1 − t / √(2 + t²).
        assert_close(student_two_sided(3.0, 2.0), 1.0 - 3.0 / 11.0_f64.sqrt());
        // Of a million, nearly normal: 0.0455002639 and (2³ + 2) / 4 000 000 of twice the density 0.0539909665.
        assert_close(student_two_sided(2.0, 1e6), 0.045_500_534);
    }

    #[test]
    fn beyond_everything_there_is_no_chance() {
        assert!(student_two_sided(f64::INFINITY, 3.0).abs() < 1e-300);
        assert!(normal_two_sided(60.0) < 1e-300);
    }
}
