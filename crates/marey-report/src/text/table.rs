//! A [`Table`] on a terminal.

use super::block;
use crate::escape::visible;
use crate::model::Table;
use crate::shown_table::ShownTable;
use crate::width::{columns, pad_end, pad_start, wrapped};

/// Shortest rule, as in the other tables.
const MIN_WIDTH: usize = 80;
/// Notes are not narrower than this.
const NOTE_WIDTH: usize = 100;

/// The first rows of a table in a block, and how many there are more. Ends with a line feed.
pub(crate) fn table_text(table: &Table, max_rows: usize) -> String {
    let shown = ShownTable::new(table, max_rows);
    let mut widths: Vec<usize> = table.columns.iter().map(|c| columns(c.title)).collect();
    for row in &shown.rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(columns(cell));
        }
    }
    let line = |cells: &[String]| {
        let padded = cells.iter().zip(&widths).enumerate();
        let padded = padded.map(|(at, (cell, width))| {
            if table.is_text(at) {
                pad_end(cell, *width)
            } else {
                pad_start(cell, *width)
            }
        });
        padded.collect::<Vec<_>>().join("  ")
    };
    let titles: Vec<String> = table.columns.iter().map(|c| c.title.to_owned()).collect();
    let header = line(&titles);
    let mut lines: Vec<String> = shown.rows.iter().map(|row| line(row)).collect();
    lines.extend(shown.more());
    let width = columns(&header).max(NOTE_WIDTH);
    let notes = table.notes.iter();
    lines.extend(notes.flat_map(|note| wrapped(&visible(note), width)));
    block::table(
        &visible(&table.title).to_uppercase(),
        &header,
        &lines,
        MIN_WIDTH,
    )
}
