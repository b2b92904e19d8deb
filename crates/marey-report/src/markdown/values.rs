//! A table of values in Markdown.

use super::escape;
use super::table::{Column, Table as Markdown};
use crate::model::{Cell, Table};
use crate::quantity::counted;
use crate::text::shown_cell;

/// A heading, the first rows, how many there are more, notes.
pub(crate) fn table_markdown(table: &Table, max_rows: usize) -> String {
    let columns = table.columns.iter().enumerate().map(|(at, column)| {
        if table.is_text(at) {
            Column::Text(column.title)
        } else {
            Column::Figure(column.title)
        }
    });
    let mut rows = Markdown::new(&columns.collect::<Vec<_>>());
    for row in table.rows.iter().take(max_rows) {
        let cells = row.iter().map(|cell| match cell {
            Cell::Text(text) => escape::text(text),
            figure => shown_cell(figure),
        });
        rows.row(cells.collect());
    }
    let mut parts = vec![format!("## {}\n", escape::text(&table.title)), rows.text()];
    let n_more = table.rows.len().saturating_sub(max_rows);
    if n_more > 0 {
        let more = counted(n_more as u64, "row", "rows");
        parts.push(format!("… and {more} more\n"));
    }
    let notes = table.notes.iter();
    parts.extend(notes.map(|note| format!("{}\n", escape::text(note))));
    parts.join("\n")
}
