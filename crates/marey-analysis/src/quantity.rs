//! Numbers with units, as people read them.

mod column;
mod figure;

pub use column::{Column, Unit, given_out};
pub use figure::{Figure, FigureUnit};

pub use crate::stats::{float, whole};

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

/// A time in a sentence, with three digits above 1 s, too: `41.0 ms`, `1.17 s`, `1:02:03`.
pub fn time(ns: f64) -> String {
    match ns {
        ns if ns < 999_500_000.0 => duration(ns),
        ns if ns < 3_599.5e9 => format!("{} s", three_digits(ns / 1e9)),
        ns => Column::of(Unit::Time, u64::MAX).text(whole(ns)),
    }
}

/// [`time`] of whole nanoseconds.
pub fn time_ns(ns: u64) -> String {
    time(float(ns))
}

/// A time in the unit that another one has in a sentence, without it: `91.1` beside `41.0 ms`.
pub fn like(ns: f64, other_ns: f64) -> String {
    let shown = time(other_ns);
    let unit_ns = match shown.rsplit(' ').next() {
        Some("ns") => 1.0,
        Some("µs") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        _ => return time(ns),
    };
    three_digits(ns / unit_ns)
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
    bytes_of(float(size))
}

/// [`bytes`] of a size that is a mean or a rate.
pub fn bytes_of(mut size: f64) -> String {
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

/// Bytes in a sentence, with three digits: `40.8 MiB`, `22.5 GiB`.
pub fn size(bytes: f64) -> String {
    if bytes < 1023.5 {
        return format!("{bytes:.0} B");
    }
    let mut size = bytes / 1024.0;
    for unit in ["KiB", "MiB", "GiB"] {
        if size < 1023.5 {
            return format!("{} {unit}", three_digits(size));
        }
        size /= 1024.0;
    }
    format!("{} TiB", three_digits(size))
}

/// [`size`] of a whole number.
pub fn size_of(bytes: u64) -> String {
    size(float(bytes))
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

/// A ratio in percent with one decimal; what is rounded away has no sign.
pub fn percent(ratio: f64) -> String {
    match ratio {
        _ if ratio > 0.0 && ratio < 0.0005 => "<0.1 %".into(),
        _ if ratio < 0.0 && ratio > -0.0005 => "0.0 %".into(),
        _ => format!("{:.1} %", ratio * 100.0),
    }
}

/// A share in percent as it stands in a sentence, with one decimal where there is one, two below 1: `43 %`, `49.6 %`, `0.25 %`.
pub fn rounded_percent(ratio: f64) -> String {
    format!("{} %", rounded(ratio * 100.0))
}

/// [`rounded_percent`] of a difference, with its sign: `+34.5 %`, `−8 %`; what is rounded away has none.
pub fn signed_percent(ratio: f64) -> String {
    let sign = match ratio {
        _ if ratio.abs() < 0.000_05 => "",
        _ if ratio < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{}", rounded_percent(ratio.abs()))
}

/// A number with one decimal where there is one, two below 1: `8`, `8.5`, `0.25`.
pub fn rounded(number: f64) -> String {
    let decimals = if number.abs() < 1.0 { 2 } else { 1 };
    let shown = format!("{number:.decimals$}");
    let shown = without_zeros(&shown);
    // What rounds to nothing has no sign.
    if shown == "-0" { "0" } else { shown }.to_owned()
}

/// A ratio as a change: `+5.2 %`, `-98.6 %`, from twice as much on `×8.56`.
pub fn change(ratio: f64) -> String {
    if ratio >= 9.995 {
        return format!("×{ratio:.1}");
    }
    if ratio >= 1.995 {
        return format!("×{ratio:.2}");
    }
    let percent = (ratio - 1.0) * 100.0;
    // What is rounded away has no sign.
    if percent.abs() < 0.05 {
        return "0.0 %".into();
    }
    format!("{percent:+.1} %")
}

/// A share in a sentence: `44 %`, below 10 % `3.8 %`.
pub fn share(ratio: f64) -> String {
    let decimals = usize::from(ratio < 0.0995);
    format!("{:.decimals$} %", ratio * 100.0)
}

/// A difference as a share, with its sign: `+2.9 %`, `−11.5 %`; what is rounded away has none.
pub fn signed_share(ratio: f64) -> String {
    let decimals = usize::from(ratio.abs() < 0.9995);
    let shown = format!("{:.decimals$} %", ratio.abs() * 100.0);
    match ratio {
        _ if !shown.contains(|c| matches!(c, '1'..='9')) => shown,
        ratio if ratio < 0.0 => format!("−{shown}"),
        _ => format!("+{shown}"),
    }
}

/// How much more: `4.0 ×` from 2 on, `+34 %` below.
pub fn more(ratio: f64) -> String {
    if ratio >= 2.0 {
        return format!("{ratio:.1} ×");
    }
    format!("+{:.0} %", (ratio - 1.0) * 100.0)
}

/// So many cores: `1.0 cores`.
pub fn cores_of(number: f64) -> String {
    format!("{number:.1} cores")
}

/// How many per second in a sentence, without a unit: three digits, below 1 two decimals.
pub fn per_second(rate: f64) -> String {
    match rate {
        r if r < 0.995 => per_second_of(r),
        r => three_digits(r),
    }
}

/// Iterations per second: two decimals, below 0.01 four.
pub fn rate(per_second: f64) -> String {
    format!("{} it/s", per_second_of(per_second))
}

/// How many per second, without a unit: two decimals, below 0.01 four.
pub fn per_second_of(rate: f64) -> String {
    let decimals = if rate < 0.01 { 4 } else { 2 };
    format!("{rate:.decimals$}")
}

/// A number of parameters with two decimals: `850`, `12.50K`, `1.30B`.
pub fn parameters(count: u64) -> String {
    // Limits are where rounding reaches the next unit.
    match float(count) {
        n if n < 1e3 => count.to_string(),
        n if n < 999_995.0 => format!("{:.2}K", n / 1e3),
        n if n < 999_995_000.0 => format!("{:.2}M", n / 1e6),
        n if n < 999_995_000_000.0 => format!("{:.2}B", n / 1e9),
        n => format!("{:.2}T", n / 1e12),
    }
}

/// Operations in a second with three digits: `41.3 TFLOP/s`.
pub fn flops(per_second: f64) -> String {
    operations(per_second, "FLOP/s")
}

/// Operations with three digits: `930 MFLOP`.
pub fn flop_count(count: u64) -> String {
    operations(float(count), "FLOP")
}

fn operations(amount: f64, name: &str) -> String {
    let units = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")];
    // Limits are where rounding reaches the next unit.
    let unit = units.into_iter().find(|(size, _)| amount >= size * 0.9995);
    match unit {
        Some((size, letter)) if amount < size * 999.5 => {
            format!("{} {letter}{name}", three_digits(amount / size))
        }
        _ => format!("{} {name}", number(amount)),
    }
}

/// A number of things: `1 section`, `2 sections`.
pub fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// How often, in words: `once`, `2 times`.
pub fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

/// A number of any size with at most six significant digits: `4`, `0.125`, `1234.57`, `1.5e-7`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        let shown = format!("{value:.5e}");
        let (digits, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        return format!("{}e{exponent}", without_zeros(digits));
    }
    // Whole digits are all shown; of the others as many as make six significant ones.
    let decimals = match size {
        n if n >= 99_999.5 => 0,
        n if n >= 9_999.95 => 1,
        n if n >= 999.995 => 2,
        n if n >= 99.9995 => 3,
        n if n >= 9.99995 => 4,
        n if n >= 0.999_995 => 5,
        n if n >= 0.099_999_95 => 6,
        n if n >= 0.01 => 7,
        n if n >= 0.001 => 8,
        _ => 9,
    };
    without_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// Without zeros at the end of what is behind the point.
fn without_zeros(shown: &str) -> &str {
    if !shown.contains('.') {
        return shown;
    }
    shown.trim_end_matches('0').trim_end_matches('.')
}

/// The shown figure, or [`UNKNOWN`].
pub fn known<T>(figure: Option<T>, show: impl FnOnce(T) -> String) -> String {
    figure.map_or_else(|| UNKNOWN.into(), show)
}

/// Three digits, and all of those before the point.
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
    fn sentences_have_three_digits() {
        assert_eq!(
            (time_ns(1_170_400_000), time_ns(22_540_000_000)),
            ("1.17 s".into(), "22.5 s".into())
        );
        assert_eq!(time_ns(7_265_000_000_000), "2:01:05");
        assert_eq!(like(91_100_000.0, 41e6), "91.1");
        assert_eq!(size_of(42_781_900), "40.8 MiB");
        assert_eq!(size_of(24_159_191_040), "22.5 GiB");
        assert_eq!((per_second(24.39), per_second(0.415)), ("24.4".into(), "0.41".into()));
        assert_eq!((share(0.441), share(0.038)), ("44 %".into(), "3.8 %".into()));
        assert_eq!((more(3.96), more(1.34)), ("4.0 ×".into(), "+34 %".into()));
    }

    #[test]
    fn rounded_numbers_have_no_zeros_at_their_ends() {
        assert_eq!(rounded_percent(0.43), "43 %");
        assert_eq!(rounded_percent(0.496), "49.6 %");
        assert_eq!(rounded(30.0), "30");
        assert_eq!(rounded(8.54), "8.5");
        assert_eq!(rounded(0.254), "0.25");
        assert_eq!(rounded(-0.001), "0");
    }

    #[test]
    fn one_time_is_once() {
        assert_eq!((times(1), times(2)), ("once".into(), "2 times".into()));
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
        assert_eq!(percent(-0.0003), "0.0 %");
        assert_eq!(percent(-0.05), "-5.0 %");
    }

    #[test]
    fn numbers_have_six_digits_at_most() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(4.0), "4");
        assert_eq!(number(-2.5), "-2.5");
        assert_eq!(number(1234.5678), "1234.57");
        assert_eq!(number(2.0 / 3.0), "0.666667");
        assert_eq!(number(0.001_25), "0.00125");
        assert_eq!(number(12_345_678.0), "12345678");
        assert_eq!(number(1.5e-7), "1.5e-7");
        assert_eq!(number(f64::MAX), "1.79769e308");
    }

    #[test]
    fn parameters_and_operations_take_the_unit_that_fits() {
        assert_eq!(parameters(0), "0");
        assert_eq!(parameters(999), "999");
        assert_eq!(parameters(12_500), "12.50K");
        assert_eq!(parameters(999_999), "1.00M");
        assert_eq!(parameters(1_300_000_000), "1.30B");
        assert_eq!(parameters(u64::MAX), "18446744.07T");
        assert_eq!(flops(41.32e12), "41.3 TFLOP/s");
        assert_eq!(flops(999.9e12), "1.00 PFLOP/s");
        assert_eq!(flops(1500.0), "1500 FLOP/s");
        assert_eq!(flops(2e18), "2e18 FLOP/s");
        assert_eq!(flop_count(929_562_624), "930 MFLOP");
    }

    #[test]
    fn one_thing_is_not_several() {
        assert_eq!(counted(0, "call", "calls"), "0 calls");
        assert_eq!(counted(1, "call", "calls"), "1 call");
        assert_eq!(counted(2, "call", "calls"), "2 calls");
    }

    #[test]
    fn slow_loops_have_a_rate_too() {
        assert_eq!(rate(0.4), "0.40 it/s");
        assert_eq!(rate(1.0 / 428.0), "0.0023 it/s");
    }
}
