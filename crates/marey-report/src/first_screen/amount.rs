//! Amounts as the first screen shows them: columns that add up as they are printed, and three digits in sentences.

use crate::quantity::{duration, float};

const HOUR_NS: u64 = 3_600_000_000_000;

/// How a column of times is written: one unit for all of it, by its total.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// What the last digit counts.
    quantum_ns: u64,
    decimals: usize,
    /// `None` writes hours, minutes and seconds.
    unit: Option<&'static str>,
}

impl Column {
    /// The longest total of each column, in its own quanta, with how the column is written.
    const ALL: [(u64, Self); 7] = [
        (999, Self::new(1, 0, "ns")),
        (9_999, Self::new(100, 1, "µs")),
        (9_999, Self::new(100_000, 1, "ms")),
        (9_999, Self::new(1_000_000, 3, "s")),
        (9_999, Self::new(10_000_000, 2, "s")),
        (35_999, Self::new(100_000_000, 1, "s")),
        (u64::MAX, Self::new(1_000_000_000, 0, "")),
    ];

    const fn new(quantum_ns: u64, decimals: usize, unit: &'static str) -> Self {
        Self {
            quantum_ns,
            decimals,
            unit: if unit.is_empty() { None } else { Some(unit) },
        }
    }

    pub(super) fn of(total_ns: u64) -> Self {
        let fits = |(most, column): &&(u64, Self)| column.quanta(total_ns) <= *most;
        let found = Self::ALL.iter().find(fits);
        found.map_or(Self::ALL[6].1, |(_, column)| *column)
    }

    /// The time in quanta of this column.
    pub(super) fn quanta(self, ns: u64) -> u64 {
        ns / self.quantum_ns + u64::from(ns % self.quantum_ns >= self.quantum_ns.div_ceil(2))
    }

    /// The length of so many quanta.
    pub(super) fn length_ns(self, quanta: u64) -> u64 {
        quanta.saturating_mul(self.quantum_ns)
    }

    /// Quanta with their unit: `52.0 ms`, `0.883 s`, `1:02:03`.
    pub(super) fn shown(self, quanta: u64) -> String {
        let Some(unit) = self.unit else {
            let (minutes, seconds) = (quanta / 60, quanta % 60);
            return format!("{}:{:02}:{seconds:02}", minutes / 60, minutes % 60);
        };
        let (mut whole, mut part) = (quanta, String::new());
        for _ in 0..self.decimals {
            part.insert_str(0, &(whole % 10).to_string());
            whole /= 10;
        }
        let point = if part.is_empty() { "" } else { "." };
        format!("{whole}{point}{part} {unit}")
    }

    /// A time of the column's length.
    pub(super) fn time(self, ns: u64) -> String {
        self.shown(self.quanta(ns))
    }
}

/// `whole` given out in the proportion of the parts, so that it adds up: rounded down, and what is left to the largest remainders.
///
/// ```text
/// 10 in the proportion of 1, 1, 1   →   4, 3, 3
/// ```
pub(super) fn given_out(whole: u64, parts: &[u64]) -> Vec<u64> {
    let sum: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    let sum = sum.max(1);
    let exact = |part: &u64| u128::from(*part) * u128::from(whole);
    let mut given: Vec<u64> = parts
        .iter()
        .map(|part| u64::try_from(exact(part) / sum).unwrap_or(u64::MAX))
        .collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(exact(&parts[*at]) % sum), *at));
    let left = whole.saturating_sub(given.iter().sum());
    for at in order
        .into_iter()
        .take(usize::try_from(left).unwrap_or(usize::MAX))
    {
        given[at] += 1;
    }
    given
}

/// A time in a sentence, with three digits: `41.0 ms`, `1.17 s`, `1:02:03`.
pub(super) fn time(ns: f64) -> String {
    if ns < 999_500_000.0 {
        return duration(ns);
    }
    match ns / 1e9 {
        s if s < 3599.5 => format!("{} s", digits(s)),
        _ => Column::of(HOUR_NS).time(whole(ns)),
    }
}

/// [`time`] of whole nanoseconds.
pub(super) fn time_ns(ns: u64) -> String {
    time(float(ns))
}

/// A time in the unit that another one has in a sentence, without it: `91.1` beside `41.0 ms`.
pub(super) fn like(ns: f64, other_ns: f64) -> String {
    let shown = time(other_ns);
    let unit_ns = match shown.rsplit(' ').next() {
        Some("ns") => 1.0,
        Some("µs") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        _ => return time(ns),
    };
    digits(ns / unit_ns)
}

/// Bytes in a sentence, with three digits: `40.8 MiB`, `22.5 GiB`.
pub(super) fn bytes(size: f64) -> String {
    let units = [
        (1024.0, "KiB"),
        (1_048_576.0, "MiB"),
        (1_073_741_824.0, "GiB"),
        (1_099_511_627_776.0, "TiB"),
    ];
    if size < 1023.5 {
        return format!("{size:.0} B");
    }
    let fitting = units.into_iter().find(|(unit, _)| size / unit < 1023.5);
    let (unit, name) = fitting.unwrap_or(units[3]);
    format!("{} {name}", digits(size / unit))
}

/// [`bytes`] of a whole number.
pub(super) fn bytes_of(size: u64) -> String {
    bytes(float(size))
}

/// How many in a second, without a unit: three digits, below 1 two decimals.
pub(super) fn rate(per_second: f64) -> String {
    match per_second {
        r if r < 0.01 => format!("{r:.4}"),
        r if r < 0.995 => format!("{r:.2}"),
        r => digits(r),
    }
}

/// A share in a sentence: `44 %`, below 10 % `3.8 %`.
pub(super) fn share(ratio: f64) -> String {
    let decimals = usize::from(ratio < 0.0995);
    format!("{:.decimals$} %", ratio * 100.0)
}

/// How much more: `4.0 ×` from 2 on, `+34 %` below.
pub(super) fn more(ratio: f64) -> String {
    if ratio >= 2.0 {
        return format!("{ratio:.1} ×");
    }
    format!("+{:.0} %", (ratio - 1.0) * 100.0)
}

/// Three digits, and all of those before the point.
fn digits(number: f64) -> String {
    match number {
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a length of time, not negative; saturates"
)]
fn whole(ns: f64) -> u64 {
    ns as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_unit_by_its_total() {
        let shown = |total: u64, ns: u64| Column::of(total).time(ns);
        assert_eq!(shown(812, 12), "12 ns");
        assert_eq!(shown(52_040, 9_960), "10.0 µs");
        assert_eq!(shown(92_800_000, 8_100_000), "8.1 ms");
        assert_eq!(shown(999_949_999, 999_949_999), "999.9 ms");
        assert_eq!(shown(999_950_000, 999_950_000), "1.000 s");
        assert_eq!(shown(7_985_000_000, 93_400_000), "0.093 s");
        assert_eq!(shown(21_550_000_000, 70_000_000), "0.07 s");
        assert_eq!(shown(300_000_000_000, 1_260_000_000), "1.3 s");
        assert_eq!(shown(3_723_000_000_000, 61_400_000_000), "0:01:01");
    }

    #[test]
    fn what_is_left_goes_to_the_largest_remainders() {
        assert_eq!(given_out(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(given_out(1000, &[2, 1]), [667, 333]);
        assert_eq!(given_out(5, &[]), [0_u64; 0]);
        assert_eq!(given_out(0, &[3, 4]), [0, 0]);
    }

    #[test]
    fn sentences_have_three_digits() {
        assert_eq!(
            (time_ns(1_170_400_000), time_ns(22_540_000_000)),
            ("1.17 s".into(), "22.5 s".into())
        );
        assert_eq!(time_ns(7_265_000_000_000), "2:01:05");
        assert_eq!(like(91_100_000.0, 41e6), "91.1");
        assert_eq!(bytes_of(42_781_900), "40.8 MiB");
        assert_eq!(bytes_of(24_159_191_040), "22.5 GiB");
        assert_eq!((rate(24.39), rate(0.415)), ("24.4".into(), "0.41".into()));
        assert_eq!(
            (share(0.441), share(0.038)),
            ("44 %".into(), "3.8 %".into())
        );
        assert_eq!((more(3.96), more(1.34)), ("4.0 ×".into(), "+34 %".into()));
    }

    #[test]
    fn what_is_given_out_is_all_of_it() {
        let mut random = 1_u64;
        let mut next = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            random >> 20
        };
        for n in 1..200 {
            let parts: Vec<u64> = (0..=n % 12).map(|_| next()).collect();
            let whole = next() % 100_000;
            assert_eq!(
                given_out(whole, &parts).iter().sum::<u64>(),
                whole,
                "{parts:?}"
            );
        }
    }
}
