//! Columns of amounts in one unit, which add up as they are printed.

/// What amounts are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
}

/// How a column of amounts is written: one unit for all of it, by its total.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The unit in nanoseconds or bytes.
    size: u64,
    decimals: u32,
    /// Empty writes hours, minutes and seconds.
    name: &'static str,
}

const TIMES: [(u64, Column); 7] = [
    (999, Column::new(1, 0, "ns")),
    (9_999, Column::new(1_000, 1, "µs")),
    (9_999, Column::new(1_000_000, 1, "ms")),
    (9_999, Column::new(1_000_000_000, 3, "s")),
    (9_999, Column::new(1_000_000_000, 2, "s")),
    (35_999, Column::new(1_000_000_000, 1, "s")),
    (u64::MAX, Column::new(1_000_000_000, 0, "")),
];
const BYTES: [(u64, Column); 4] = [
    (1023, Column::new(1, 0, "B")),
    (10_239, Column::new(1 << 10, 1, "KiB")),
    (10_239, Column::new(1 << 20, 1, "MiB")),
    (u64::MAX, Column::new(1 << 30, 2, "GiB")),
];

impl Column {
    const fn new(size: u64, decimals: u32, name: &'static str) -> Self {
        Self { size, decimals, name }
    }

    /// The first that has room for the total; with each is the most of its quanta.
    pub fn of(unit: Unit, total: u64) -> Self {
        let (first, last) = match unit {
            Unit::Time => (&TIMES[..], TIMES[6].1),
            Unit::Bytes => (&BYTES[..], BYTES[3].1),
        };
        let fits = |(most, column): &&(u64, Self)| column.quanta(total) <= *most;
        first.iter().find(fits).map_or(last, |(_, column)| *column)
    }

    /// For two totals and their difference: a digit more than of one alone, where that has decimals.
    pub fn of_difference(unit: Unit, totals: [u64; 2]) -> Self {
        Self::of(unit, totals[0].max(totals[1]) / 10)
    }

    /// The amount in what the last digit counts.
    pub fn quanta(self, amount: u64) -> u64 {
        let size = u128::from(self.size);
        let exact = u128::from(amount) * u128::from(self.whole()) + size / 2;
        u64::try_from(exact / size).unwrap_or(u64::MAX)
    }

    /// The amount that so many quanta are.
    pub fn amount(self, quanta: u64) -> u64 {
        let exact = u128::from(quanta) * u128::from(self.size) / u128::from(self.whole());
        u64::try_from(exact).unwrap_or(u64::MAX)
    }

    fn whole(self) -> u64 {
        10_u64.pow(self.decimals)
    }

    /// Quanta with their unit: `52.0 ms`, `0.883 s`, `1:02:03`, `2.15 GiB`.
    pub fn shown(self, quanta: u64) -> String {
        if self.name.is_empty() {
            let (minutes, seconds) = (quanta / 60, quanta % 60);
            return format!("{}:{:02}:{seconds:02}", minutes / 60, minutes % 60);
        }
        let (whole, part) = (quanta / self.whole(), quanta % self.whole());
        match self.decimals {
            0 => format!("{whole} {}", self.name),
            n => format!("{whole}.{part:0n$} {}", self.name, n = n as usize),
        }
    }

    /// An amount in the column's unit.
    pub fn text(self, amount: u64) -> String {
        self.shown(self.quanta(amount))
    }
}

/// `whole` given out in the proportion of the parts, so that it adds up: rounded down, and what is left to the largest remainders.
///
/// ```text
/// 10 in the proportion of 1, 1, 1   →   4, 3, 3
/// ```
pub fn given_out(whole: u64, parts: &[u64]) -> Vec<u64> {
    let sum: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    let sum = sum.max(1);
    let exact = |part: &u64| u128::from(*part) * u128::from(whole);
    let mut given: Vec<u64> =
        parts.iter().map(|part| u64::try_from(exact(part) / sum).unwrap_or(u64::MAX)).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(exact(&parts[*at]) % sum), *at));
    let left = whole.saturating_sub(given.iter().sum());
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    for at in order.into_iter().take(left) {
        given[at] += 1;
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_unit_by_its_total() {
        let shown = |total: u64, ns: u64| Column::of(Unit::Time, total).text(ns);
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
    fn bytes_are_mebibytes_below_a_gibibyte() {
        let shown = |total: u64, bytes: u64| Column::of(Unit::Bytes, total).text(bytes);
        assert_eq!(shown(1023, 16), "16 B");
        assert_eq!(shown(300 << 20, 1 << 19), "0.5 MiB");
        assert_eq!(shown(25_759_318_016, 2_310_029_312), "2.15 GiB");
        let column = Column::of(Unit::Bytes, 24 << 30);
        assert_eq!(column.quanta(column.amount(215)), 215);
    }

    #[test]
    fn what_is_left_goes_to_the_largest_remainders() {
        assert_eq!(given_out(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(given_out(1000, &[2, 1]), [667, 333]);
        assert_eq!(given_out(5, &[]), [0_u64; 0]);
        assert_eq!(given_out(0, &[3, 4]), [0, 0]);
    }

    #[test]
    fn what_is_given_out_is_all_of_it() {
        let mut random = 1_u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            random >> 20
        };
        for n in 1..200 {
            let parts: Vec<u64> = (0..=n % 12).map(|_| next()).collect();
            let whole = next() % 100_000;
            assert_eq!(given_out(whole, &parts).iter().sum::<u64>(), whole, "{parts:?}");
        }
    }
}
