//! Where the time or the memory went, in few rows that add up.

use serde::Serialize;

use crate::quantity::{Column, Unit, float, given_out};

/// Share of the total from which on *other* is a row.
const OTHER: f64 = 0.0005;

/// Where the time or the memory went: rows that add up to the total.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountRows {
    /// What is given out, for programs: `wall`.
    pub measure: &'static str,
    /// What it is of.
    pub unit: Unit,
    /// The same for people, above the rows; `None` where the headline says it.
    pub head: Option<String>,
    /// All of it, in nanoseconds or bytes.
    pub total: u64,
    /// *other* last.
    pub rows: Vec<Row>,
    /// Requests that it is the mean of; `None` where it is of none.
    pub n_requests: Option<u64>,
    /// Ranks whose time it is together; `None` where it is of one process.
    pub n_ranks: Option<usize>,
}

/// A part of the total.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// As the user named it; not safe to print.
    pub name: String,
    /// What it took, in nanoseconds or bytes.
    pub held: u64,
    /// What it is to the whole.
    pub part: Part,
    /// Its own arithmetic.
    pub note: Option<String>,
    /// The same for programs.
    pub facts: RowFacts,
}

/// What a row is made up of, for programs; what does not hold for it is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowFacts {
    /// It had not ended.
    pub is_open: bool,
    /// Denoising steps in it.
    pub steps: Option<u64>,
    /// Calls of anything else.
    pub calls: Option<u64>,
    /// Steps that a cache answered.
    pub cached: Option<u64>,
    /// Of a step or call; without the first where `first_s` is there.
    pub mean_s: Option<f64>,
    /// The first, where it took much longer or shorter.
    pub first_s: Option<f64>,
    /// Of a step.
    pub median_s: Option<f64>,
    /// The shortest.
    pub min_s: Option<f64>,
    /// The longest.
    pub max_s: Option<f64>,
    /// Of a step or call.
    pub p95_s: Option<f64>,
    /// The part in which a device worked for it.
    pub device_busy_s: Option<f64>,
}

/// What a row is to the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Work.
    Work,
    /// Something is waited for, or nothing uses it.
    Waiting,
    /// All else.
    Other,
}

impl AccountRows {
    /// The rows with what they leave of the total. `None` without any: one row *other* is no account.
    pub(crate) fn new(
        measure: &'static str,
        unit: Unit,
        total: u64,
        rows: Vec<Row>,
    ) -> Option<Self> {
        (!rows.is_empty()).then(|| Self {
            measure,
            unit,
            head: None,
            total,
            rows: with_other(rows, total),
            n_requests: None,
            n_ranks: None,
        })
    }

    /// What is printed of each row, in quanta of the column: it adds up to what is printed of the total.
    pub(super) fn printed(&self) -> (Column, Vec<u64>) {
        let column = Column::of(self.unit, self.total);
        (column, given_out(column.quanta(self.total), &self.held()))
    }

    /// Tenths of a percent, which add up to a thousand.
    pub(super) fn shares(&self) -> Vec<u64> {
        given_out(1000, &self.held())
    }

    fn held(&self) -> Vec<u64> {
        self.rows.iter().map(|row| row.held).collect()
    }

    /// The row of a name, and its amount as it is printed.
    pub(super) fn row(&self, name: &str) -> Option<(&Row, u64)> {
        let at = self.rows.iter().position(|row| row.name == name)?;
        let (column, printed) = self.printed();
        Some((&self.rows[at], column.amount(printed[at])))
    }

    /// The same with rows below a share of the total put into *other*, and at most so many of them.
    pub(super) fn with_fewer(&self, least_ratio: f64, most: usize) -> Self {
        let least = least_ratio * float(self.total);
        let is_own = |row: &&Row| row.part != Part::Other && float(row.held) >= least;
        let own = self.rows.iter().filter(is_own).take(most);
        Self { rows: with_other(own.cloned().collect(), self.total), ..self.clone() }
    }
}

impl Row {
    /// A row without more to say of it.
    pub(crate) fn new(name: impl Into<String>, held: u64) -> Self {
        Self { name: name.into(), held, part: Part::Work, note: None, facts: RowFacts::default() }
    }
}

fn with_other(mut rows: Vec<Row>, total: u64) -> Vec<Row> {
    let shown: u64 = rows.iter().map(|row| row.held).sum();
    let other = total.saturating_sub(shown);
    if float(other) >= OTHER * float(total) {
        rows.push(Row { part: Part::Other, ..Row::new("other", other) });
    } else if let Some(largest) = rows.first_mut() {
        // Too little to see; rows add up all the same.
        largest.held += other;
    }
    rows
}
