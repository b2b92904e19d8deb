//! A table of values in Markdown.

use super::escape;
use super::table::{Column, Table as Markdown};
use crate::model::Table;
use crate::shown_table::ShownTable;

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
    let shown = ShownTable::new(table, max_rows);
    for row in &shown.rows {
        // Visible already, but not what Markdown acts on.
        rows.row(row.iter().map(|cell| escape::text(cell)).collect());
    }
    let mut parts = vec![format!("### {}\n", escape::text(&table.title)), rows.text()];
    parts.extend(shown.more().map(|more| format!("{more}\n")));
    let notes = table.notes.iter();
    parts.extend(notes.map(|note| format!("{}\n", escape::text(note))));
    parts.join("\n")
}
