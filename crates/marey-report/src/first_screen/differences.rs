//! Two accounts side by side: what each part took in both, and the difference.

use marey_analysis::compare::MeanChange;

use crate::quantity::{Column, Unit, given_out};

/// Two accounts, part by part. Columns add up as they are printed, and the differences are those of what is printed.
#[derive(Clone, Debug, PartialEq)]
pub struct Differences {
    /// What is given out, for programs: `wall`.
    pub measure: &'static str,
    /// What it is of.
    pub unit: Unit,
    /// Above the first account, the second one, and the difference: `before`, `after`, `change`.
    pub columns: [String; 3],
    /// The difference is the first less the second one, not the other way round.
    pub is_first_less_second: bool,
    /// All of each account.
    pub totals: [u64; 2],
    /// The parts, in the order in which they are shown. Each account's add up to its total.
    pub rows: Vec<DifferenceRow>,
}

/// A part of two accounts.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceRow {
    /// As the user named it; not safe to print.
    pub name: String,
    /// What it took in each.
    pub held: [u64; 2],
    /// What is behind the difference.
    pub note: Option<String>,
    /// What is known of the difference of two sides of runs, for programs.
    pub change: Option<MeanChange>,
}

impl Differences {
    /// What is printed of each row and, last, of the totals: both accounts, and the difference with its sign: `+65.5 ms`, `0.0 ms`.
    pub(super) fn texts(&self) -> Vec<[String; 3]> {
        let column = Column::of_difference(self.unit, self.totals);
        let side = |side: usize| {
            let held: Vec<u64> = self.rows.iter().map(|row| row.held[side]).collect();
            let total = column.quanta(self.totals[side]);
            let mut printed = given_out(total, &held);
            printed.push(total);
            printed
        };
        let both = side(0).into_iter().zip(side(1));
        let rows = both.map(|(first, second)| {
            let change = second.cast_signed() - first.cast_signed();
            let sign = match if self.is_first_less_second { -change } else { change } {
                0 => "",
                1.. => "+",
                _ => "−",
            };
            let change = column.shown(change.unsigned_abs());
            [column.shown(first), column.shown(second), format!("{sign}{change}")]
        });
        rows.collect()
    }
}
