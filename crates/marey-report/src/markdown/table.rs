//! A table of Markdown, that can be read as plain text, too: texts to the left, figures to the right.

use crate::width::{columns, pad_end, pad_start};

/// Rows under headers; every row has as many cells as there are headers.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

/// The header of a column and what stands under it.
#[derive(Clone, Copy)]
pub(crate) enum Column {
    Text(&'static str),
    Figure(&'static str),
}

/// What Markdown needs at least: `---`, or `--:`.
const MIN_WIDTH: usize = 3;

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// A row of Markdown: what a user named is escaped already.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        // A cell is one line, whatever is in it.
        let one_line = |cell: String| cell.replace(['\n', '\r'], " ");
        self.rows.push(cells.into_iter().map(one_line).collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table; ends with a line feed.
    pub(crate) fn text(&self) -> String {
        let widths = self.widths();
        let headers: Vec<String> = self.columns.iter().map(|c| c.header().to_owned()).collect();
        let mut text = self.line(&headers, &widths);
        text.push_str(&self.rule(&widths));
        for row in &self.rows {
            text.push_str(&self.line(row, &widths));
        }
        text
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let cells = self.columns.iter().zip(cells).zip(widths);
        let padded: Vec<String> = cells
            .map(|((column, cell), width)| match column {
                Column::Text(_) => pad_end(cell, *width),
                Column::Figure(_) => pad_start(cell, *width),
            })
            .collect();
        format!("| {} |\n", padded.join(" | "))
    }

    fn rule(&self, widths: &[usize]) -> String {
        let cells = self.columns.iter().zip(widths);
        let rules: Vec<String> = cells
            .map(|(column, width)| match column {
                Column::Text(_) => "-".repeat(*width),
                Column::Figure(_) => "-".repeat(width - 1) + ":",
            })
            .collect();
        format!("| {} |\n", rules.join(" | "))
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |index: usize, column: &Column| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let cells = cells.map(|cell| columns(cell));
            cells
                .chain([columns(column.header()), MIN_WIDTH])
                .max()
                .unwrap_or(MIN_WIDTH)
        };
        let all = self.columns.iter().enumerate();
        all.map(|(index, column)| widest(index, column)).collect()
    }
}

impl Column {
    fn header(self) -> &'static str {
        match self {
            Self::Text(header) | Self::Figure(header) => header,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_one_line() {
        let mut table = Table::new(&[Column::Text("a"), Column::Figure("b")]);
        assert!(table.is_empty());
        table.row(vec!["x\ny".into(), "1".into()]);
        assert_eq!(table.text().lines().count(), 3);
    }
}
