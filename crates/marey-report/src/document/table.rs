//! A table as values, before any format.

use marey_analysis::findings::Figure;
use serde::Serialize;

/// Rows that people are shown where a table does not say it for itself.
const LIMIT: usize = 20;

/// Rows of figures under headers; every row has as many cells as there are columns. Every format shows the same cells.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Table {
    /// What files and options call it: `kernels`.
    pub key: &'static str,
    /// What people read: `Kernels · GPU 0`; empty where what it stands in says it. Not safe to print.
    pub title: String,
    /// The file or job that it is about, with what programs call that: `("file", "a.json")`; `None` when there is but one. Not safe to
    /// print.
    #[serde(skip)]
    pub origin: Option<(&'static str, String)>,
    /// The device that it is about, as people call it; `None` when it is about all or none. Not safe to print.
    pub device: Option<String>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, the most important first.
    pub rows: Vec<Vec<Cell>>,
    /// What is said below it. Not safe to print.
    pub notes: Vec<String>,
    /// Rows that people are shown at most; programs get all.
    #[serde(skip)]
    pub limit: usize,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Column {
    /// What programs read, with the unit: `total_ns`.
    pub key: &'static str,
    /// What people read: `Total`.
    pub title: &'static str,
}

/// A figure or a text.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "unit", content = "value")]
pub enum Cell {
    /// Not known.
    Absent,
    /// A text of the trace or ours: people see of a name of C++ what tells it from others. Not safe to print.
    Text(String),
    /// What a user named, or a path of such names: people see it as it is, without its middle where it is long. Not safe to print.
    Name(String),
    /// A number of things.
    Count(u64),
    /// A duration in nanoseconds.
    Duration(u64),
    /// A duration in nanoseconds that is a mean.
    Mean(f64),
    /// A moment: nanoseconds after the beginning.
    Moment(u64),
    /// A size.
    Bytes(u64),
    /// A speed.
    BytesPerSecond(f64),
    /// 0 to 1, shown in percent.
    Ratio(f64),
    /// Any other number.
    Number(f64),
    /// A number of parameters.
    Parameters(u64),
    /// How many in a second.
    PerSecond(f64),
    /// Multiplications and additions.
    Flops(u64),
    /// So many of them in a second.
    FlopsPerSecond(f64),
    /// A figure in a unit of its own; all such figures of a row have the same unit.
    Figure(Figure),
    /// A difference of sizes.
    Growth(i64),
    /// A difference of figures in a unit of their own.
    Difference(Figure),
    /// What a figure is against another one: 1.05 is 5 % more.
    Change(f64),
    /// Where such a change lies with 95 % confidence.
    ChangeBetween(f64, f64),
    /// A name with its depth in a tree. Not safe to print.
    Nested(u32, String),
    /// A call path, names from the outermost to the innermost. Not safe to print.
    Path(Vec<String>),
    /// About that, from a histogram.
    About(Box<Cell>),
    /// That or more.
    AtLeast(Box<Cell>),
}

/// A column's key and title, and its cell of a row.
pub(crate) type Shows<'a, T> = (&'static str, &'static str, &'a dyn Fn(&T) -> Cell);

impl Table {
    /// A row for each of these things.
    pub(crate) fn of_each<T>(
        key: &'static str,
        title: impl Into<String>,
        each: impl IntoIterator<Item = T>,
        columns: &[Shows<'_, T>],
    ) -> Self {
        let named: Vec<_> = columns.iter().map(|(key, title, _)| (*key, *title)).collect();
        let mut table = Self::new(key, title, &named);
        let row = |one: T| columns.iter().map(|(.., cell)| cell(&one)).collect();
        table.rows = each.into_iter().map(row).collect();
        table
    }

    /// Without rows; columns as key and title.
    pub fn new(
        key: &'static str,
        title: impl Into<String>,
        columns: &[(&'static str, &'static str)],
    ) -> Self {
        let column = |(key, title): &(&'static str, &'static str)| Column { key, title };
        Self {
            key,
            title: title.into(),
            origin: None,
            device: None,
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
            limit: LIMIT,
        }
    }

    /// The same with so many rows for people.
    #[must_use]
    pub fn limited(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The same as a part of what is said of this file, or job.
    #[must_use]
    pub fn of(mut self, kind: &'static str, name: &str) -> Self {
        self.origin = Some((kind, name.to_owned()));
        self
    }

    /// The same with this said below it.
    #[must_use]
    pub(crate) fn noted(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Likewise, where that is so.
    #[must_use]
    pub(crate) fn noted_if(self, is_so: bool, note: &str) -> Self {
        if is_so { self.noted(note) } else { self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// Leaves out the columns for which `kept` is false.
    pub(crate) fn keep_columns(&mut self, kept: &[bool]) {
        let mut of_columns = kept.iter();
        self.columns.retain(|_| of_columns.next().is_none_or(|kept| *kept));
        for row in &mut self.rows {
            let mut of_cells = kept.iter();
            row.retain(|_| of_cells.next().is_none_or(|kept| *kept));
        }
    }

    /// The column holds texts: it is set to the left.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        matches!(self.first_known(column), Some(Cell::Text(_))) || self.is_name(column)
    }

    /// The column holds what a user named.
    pub(crate) fn is_name(&self, column: usize) -> bool {
        let first = self.first_known(column);
        matches!(first, Some(Cell::Name(_) | Cell::Nested(..) | Cell::Path(_)))
    }

    fn first_known(&self, column: usize) -> Option<&Cell> {
        let mut cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.find(|cell| !matches!(cell, Cell::Absent))
    }
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A name of a user.
    pub fn name(name: impl Into<String>) -> Self {
        Self::Name(name.into())
    }

    /// What it says, or about that where it is not exact.
    #[must_use]
    pub fn exactly(self, is_exact: bool) -> Self {
        if is_exact { self } else { Self::About(Box::new(self)) }
    }

    /// What it says, or at least that where there may be more.
    #[must_use]
    pub fn or_more(self, may_be_more: bool) -> Self {
        if may_be_more { Self::AtLeast(Box::new(self)) } else { self }
    }

    /// A number of things, or that it is not known.
    pub fn count(count: impl Into<Option<u64>>) -> Self {
        Self::known(count.into(), Self::Count)
    }

    /// A text, likewise.
    pub fn text_of<'a>(text: impl Into<Option<&'a String>>) -> Self {
        Self::known(text.into().cloned(), Self::Text)
    }

    /// A moment, likewise.
    pub fn moment(ns: impl Into<Option<u64>>) -> Self {
        Self::known(ns.into(), Self::Moment)
    }

    /// A duration, likewise.
    pub fn duration(ns: impl Into<Option<u64>>) -> Self {
        Self::known(ns.into(), Self::Duration)
    }

    /// A mean of durations, likewise.
    pub fn mean(ns: impl Into<Option<f64>>) -> Self {
        Self::known(ns.into(), Self::Mean)
    }

    /// A size, likewise.
    pub fn bytes(size: impl Into<Option<u64>>) -> Self {
        Self::known(size.into(), Self::Bytes)
    }

    /// A share, likewise.
    pub fn ratio(ratio: impl Into<Option<f64>>) -> Self {
        Self::known(ratio.into(), Self::Ratio)
    }

    /// A figure, or that it is not known.
    pub fn known<T>(figure: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        figure.map_or(Self::Absent, cell)
    }
}
