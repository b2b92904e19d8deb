//! Numbers with units, as people read them.

/// Shown where a figure is not known.
pub const UNKNOWN: &str = "-";

/// A duration with three significant digits, from 1 s on with three decimals: `812 ns`, `5.20 µs`, `48.1 ms`, `3.769 s`.
pub fn duration(ns: f64) -> String {
    // Limits are where rounding reaches the next unit.
    match ns {
        n if n < 999.5 => format!("{n:.0} ns"),
        n if n < 999_500.0 => format!("{} µs", three_digits(n / 1e3)),
        n if n < 999_500_000.0 => format!("{} ms", three_digits(n / 1e6)),
        n => format!("{:.3} s", n / 1e9),
    }
}

/// [`duration`] of whole nanoseconds.
pub fn duration_ns(ns: u64) -> String {
    duration(float(ns))
}

/// A duration in seconds with three decimals, as `3.769s`; below 10 ms, where that would leave one digit or none,
/// with the unit that fits: `5.20ms`.
pub fn seconds(ns: f64) -> String {
    if ns == 0.0 || ns >= 1e7 {
        return format!("{:.3}s", ns / 1e9);
    }
    duration(ns).replace(' ', "")
}

/// A point in time as seconds with three decimals, without unit.
pub fn time_s(ns: u64) -> String {
    format!("{:.3}", float(ns) / 1e9)
}

/// A size with one decimal: `512 B`, `4.0 KiB`, `1024.5 MiB` is `1.0 GiB`.
pub fn bytes(size: u64) -> String {
    let mut size = float(size);
    if size < 1024.0 {
        return format!("{size:.0} B");
    }
    for unit in ["KiB", "MiB", "GiB"] {
        size /= 1024.0;
        if size < 1023.95 {
            return format!("{size:.1} {unit}");
        }
    }
    format!("{:.1} TiB", size / 1024.0)
}

/// A difference of sizes with its sign: `+4.0 KiB`.
pub fn growth(difference: i64) -> String {
    let sign = if difference < 0 { '-' } else { '+' };
    format!("{sign}{}", bytes(difference.unsigned_abs()))
}

/// A size in MiB with one decimal: `1024.5M`.
pub fn mebibytes(size: u64) -> String {
    format!("{:.1}M", float(size) / 1_048_576.0)
}

/// A ratio of 0 to 1 in percent with one decimal.
pub fn percent(ratio: f64) -> String {
    if ratio > 0.0 && ratio < 0.0005 {
        return "<0.1 %".into();
    }
    format!("{:.1} %", ratio * 100.0)
}

/// Iterations per second: two decimals, below 0.01 four.
pub fn rate(per_second: f64) -> String {
    if per_second < 0.01 {
        return format!("{per_second:.4} it/s");
    }
    format!("{per_second:.2} it/s")
}

/// The shown figure, or [`UNKNOWN`].
pub fn known<T>(figure: Option<T>, show: impl FnOnce(T) -> String) -> String {
    figure.map_or_else(|| UNKNOWN.into(), show)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "what is shown has far fewer than 53 bits"
)]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

/// A number of 1 to 999.5.
fn three_digits(number: f64) -> String {
    match number {
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_the_unit_that_fits() {
        let shown = |ns: u64| duration_ns(ns);
        assert_eq!(shown(0), "0 ns");
        assert_eq!(shown(812), "812 ns");
        assert_eq!(shown(1_000), "1.00 µs");
        assert_eq!(shown(52_040), "52.0 µs");
        assert_eq!(shown(999_499), "999 µs");
        assert_eq!(shown(999_500), "1.00 ms");
        assert_eq!(shown(48_123_000), "48.1 ms");
        assert_eq!(shown(999_499_999), "999 ms");
        assert_eq!(shown(999_999_999), "1.000 s");
        assert_eq!(shown(125_456_000_000), "125.456 s");
    }

    #[test]
    fn short_times_do_not_become_zero_seconds() {
        assert_eq!(seconds(45_234_000_000.0), "45.234s");
        assert_eq!(seconds(48_000_000.0), "0.048s");
        assert_eq!(seconds(1_400_000.0), "1.40ms");
        assert_eq!(seconds(52_000.0), "52.0µs");
        assert_eq!(seconds(0.0), "0.000s");
    }

    #[test]
    fn sizes_take_the_unit_that_fits() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(4096), "4.0 KiB");
        assert_eq!(bytes(1_048_575), "1.0 MiB");
        assert_eq!(bytes(14 << 30), "14.0 GiB");
        assert_eq!(bytes(u64::MAX), "16777216.0 TiB");
        assert_eq!(growth(-4096), "-4.0 KiB");
        assert_eq!(growth(0), "+0 B");
        assert_eq!(growth(i64::MIN), "-8388608.0 TiB");
    }

    #[test]
    fn a_share_that_is_there_is_not_zero() {
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.0001), "<0.1 %");
        assert_eq!(percent(0.4567), "45.7 %");
        assert_eq!(percent(1.0), "100.0 %");
    }

    #[test]
    fn slow_loops_have_a_rate_too() {
        assert_eq!(rate(0.4), "0.40 it/s");
        assert_eq!(rate(1.0 / 428.0), "0.0023 it/s");
    }
}
