//! A [`Table`] as people read it: its first rows, as texts that are safe to print.

use super::{Cell, Table};
use crate::escape::{cut, visible};
use crate::quantity::{
    UNKNOWN, bytes, bytes_of, change, counted, duration, duration_ns, flop_count, flops, growth,
    number, parameters, per_second_of, percent, time_s,
};
use crate::short_names::{short_names, short_paths};
use crate::width::without_middle;

/// Columns that a text may take.
const TEXT_WIDTH: usize = 60;
/// Deeper levels are not indented further.
const MAX_INDENT: usize = 12;
/// Share of the whole below which rows of a long table are left out.
const LEAST_SHARE: f64 = 0.01;
/// Rows that are shown whatever their share.
const FEW_ROWS: usize = 5;

/// What is shown of a table.
pub(crate) struct ShownTable {
    /// The headers of its columns. Those in which nothing is known are not there.
    pub(crate) titles: Vec<String>,
    /// Which of them hold texts: these are set to the left.
    pub(crate) is_text: Vec<bool>,
    /// Which of them hold what a user named.
    pub(crate) is_name: Vec<bool>,
    /// The cells of each row.
    pub(crate) rows: Vec<Vec<String>>,
    /// Rows that are not shown.
    pub(crate) n_more: u64,
    /// The first of them has less than a hundredth of the whole.
    pub(crate) are_small: bool,
}

impl ShownTable {
    /// At most so many rows, and of a longer table none below a hundredth of the whole after the first few. Names are as short
    /// as they can be told apart.
    pub(crate) fn new(table: &Table, limit: usize) -> Self {
        let n_shown = n_shown(table, limit);
        let shown: Vec<usize> =
            (0..table.columns.len()).filter(|at| *at == 0 || is_known(table, *at)).collect();
        let title =
            |at: &usize| table.columns.get(*at).map_or("", |column| column.title).to_owned();
        let columns = shown.iter().map(|at| column(table, *at, n_shown));
        let columns: Vec<Vec<String>> = columns.collect();
        let row = |row: usize| columns.iter().filter_map(move |c| c.get(row).cloned());
        Self {
            titles: shown.iter().map(title).collect(),
            is_text: shown.iter().map(|at| table.is_text(*at)).collect(),
            is_name: shown.iter().map(|at| table.is_name(*at)).collect(),
            rows: (0..n_shown).map(|at| row(at).collect()).collect(),
            n_more: table.rows.len().saturating_sub(n_shown) as u64,
            are_small: table.rows.get(n_shown).is_some_and(|row| is_small(table, row)),
        }
    }

    /// What stands for the rows that are not shown; `None` when all are.
    pub(crate) fn more(&self) -> Option<String> {
        let rows = counted(self.n_more, "more row", "more rows");
        let small = if self.are_small { ", below 1 % each" } else { "" };
        (self.n_more > 0).then(|| format!("… and {rows}{small}"))
    }
}

fn n_shown(table: &Table, limit: usize) -> usize {
    if table.rows.len() <= limit {
        return table.rows.len();
    }
    let matter = table.rows.iter().take_while(|row| !is_small(table, row));
    matter.count().max(FEW_ROWS).min(limit)
}

/// A row of little weight. Tables with shares have those that weigh most first.
fn is_small(table: &Table, row: &[Cell]) -> bool {
    let mut cells = table.columns.iter().zip(row);
    cells.any(|(column, cell)| {
        column.key == "ratio" && matches!(cell, Cell::Ratio(ratio) if *ratio < LEAST_SHARE)
    })
}

fn is_known(table: &Table, column: usize) -> bool {
    let mut cells = table.rows.iter().filter_map(|row| row.get(column));
    cells.any(|cell| *cell != Cell::Absent)
}

fn column(table: &Table, at: usize, n_rows: usize) -> Vec<String> {
    let cells = || table.rows.iter().take(n_rows).filter_map(|row| row.get(at));
    let texts = cells().filter_map(|cell| match cell {
        Cell::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let mut names = short_names(&texts.collect::<Vec<_>>(), TEXT_WIDTH).into_iter();
    let paths = cells().filter_map(|cell| match cell {
        Cell::Path(path) => Some(path.as_slice()),
        _ => None,
    });
    let mut paths = short_paths(&paths.collect::<Vec<_>>(), TEXT_WIDTH).into_iter();
    let shown = cells().map(|cell| match cell {
        Cell::Text(_) => names.next().unwrap_or_default(),
        Cell::Path(_) => paths.next().unwrap_or_default(),
        figure => shown_cell(figure),
    });
    shown.collect()
}

/// A cell for people, safe to print.
fn shown_cell(cell: &Cell) -> String {
    match cell {
        Cell::Absent => UNKNOWN.into(),
        Cell::Text(text) => cut(text, TEXT_WIDTH),
        Cell::Name(name) => without_middle(&visible(name), TEXT_WIDTH),
        Cell::Count(count) => count.to_string(),
        Cell::Duration(ns) => duration_ns(*ns),
        Cell::Mean(ns) => duration(*ns),
        Cell::Moment(ns) => format!("{} s", time_s(*ns)),
        Cell::Bytes(size) => bytes(*size),
        Cell::BytesPerSecond(speed) => format!("{}/s", bytes_of(*speed)),
        Cell::Ratio(ratio) => percent(*ratio),
        Cell::Number(value) => number(*value),
        Cell::Parameters(count) => parameters(*count),
        Cell::PerSecond(rate) => per_second_of(*rate),
        Cell::Flops(count) => flop_count(*count),
        Cell::FlopsPerSecond(rate) => flops(*rate),
        Cell::Figure(found) => found.to_string(),
        Cell::Growth(difference) => growth(*difference),
        Cell::Difference(found) => found.difference(),
        Cell::Change(ratio) => change(*ratio),
        Cell::ChangeBetween(low, high) => format!("{} … {}", change(*low), change(*high)),
        Cell::Path(path) => short_paths(&[path], TEXT_WIDTH).concat(),
        Cell::Nested(depth, name) => {
            let indent = "  ".repeat((*depth as usize).min(MAX_INDENT));
            indent + &without_middle(&visible(name), TEXT_WIDTH)
        }
        Cell::About(cell) => format!("≈{}", shown_cell(cell)),
        Cell::AtLeast(cell) => format!("≥{}", shown_cell(cell)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(shares: &[f64]) -> Table {
        let columns = [("name", "Name"), ("ratio", "Share")];
        let mut table = Table::new("kernels", "Kernels", &columns);
        for share in shares {
            table.row(vec![Cell::text("k"), Cell::Ratio(*share)]);
        }
        table
    }

    #[test]
    fn a_long_table_ends_where_rows_weigh_less_than_a_hundredth() {
        let long = [0.5, 0.2, 0.1, 0.05, 0.05, 0.04, 0.02, 0.009, 0.009, 0.002];
        let shown = ShownTable::new(&table(&long), 8);
        assert_eq!(shown.rows.len(), 7);
        assert_eq!(shown.more().unwrap(), "… and 3 more rows, below 1 % each");
        assert_eq!(ShownTable::new(&table(&long), 3).rows.len(), 3);
        assert_eq!(ShownTable::new(&table(&long), 20).rows.len(), 10);
        let flat = [0.001; 10];
        assert_eq!(ShownTable::new(&table(&flat), 8).rows.len(), FEW_ROWS);
    }

    #[test]
    fn columns_in_which_nothing_is_known_are_not_shown() {
        let mut table = Table::new("devices", "Devices", &[("a", "A"), ("b", "B"), ("c", "C")]);
        table.row(vec![Cell::Count(1), Cell::Absent, Cell::Absent]);
        table.row(vec![Cell::Absent, Cell::Absent, Cell::Count(0)]);
        let shown = ShownTable::new(&table, 8);
        assert_eq!(shown.titles, ["A", "C"]);
        assert_eq!(shown.rows[1], [UNKNOWN, "0"]);
    }
}
