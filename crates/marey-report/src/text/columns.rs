//! A table whose columns are as wide as what is in them: texts to the left, figures to the right.

use super::block;
use crate::width::{columns, pad_end, pad_start};

/// Rows under headers; every row has as many cells as there are headers.
pub(crate) struct Columns {
    headers: Vec<&'static str>,
    last: Last,
    rows: Vec<Vec<String>>,
}

/// What the last column holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Figure,
    Text,
}

/// Shortest rule, as in the short tables.
const MIN_WIDTH: usize = 80;

impl Columns {
    /// A name in the first column; what is in the last one is given.
    pub(crate) fn new(headers: &[&'static str], last: Last) -> Self {
        Self {
            headers: headers.to_vec(),
            last,
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.headers.len());
        self.rows.push(cells);
    }

    /// The table in a block, followed by notes.
    pub(crate) fn block(&self, title: &str, notes: &[String]) -> String {
        let widths = self.widths();
        let header = line(self.headers.iter().copied(), &widths, self.last);
        let mut lines: Vec<String> = self
            .rows
            .iter()
            .map(|row| line(row.iter().map(String::as_str), &widths, self.last))
            .collect();
        lines.extend_from_slice(notes);
        block::table(title, &header, &lines, MIN_WIDTH)
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.headers.iter().copied().map(columns).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell));
            }
        }
        widths
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>, widths: &[usize], alignment: Last) -> String {
    let padded: Vec<String> = cells
        .zip(widths)
        .enumerate()
        .map(|(index, (cell, width))| {
            let is_last = index + 1 == widths.len();
            if index == 0 || (is_last && alignment == Last::Text) {
                pad_end(cell, *width)
            } else {
                pad_start(cell, *width)
            }
        })
        .collect();
    padded.join("  ")
}
