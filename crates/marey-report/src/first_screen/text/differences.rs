//! Two accounts side by side.

use super::rows::fitting;
use super::{Cut, NAME};
use crate::escape::visible;
use crate::first_screen::differences::Differences;
use crate::first_screen::line::{Line, Style, name, spelled};
use crate::width::{columns, pad_end, pad_start};

/// Columns of a name where the terminal is narrow.
const SHORT_NAME: usize = 14;

/// A row a part and one of the totals, with the names of the columns above them.
pub(super) fn lines(found: &Differences, cut: &Cut) -> Vec<Line> {
    let longest = if cut.is_narrow() { SHORT_NAME } else { NAME };
    let said = |text: &str| spelled(&visible(text), cut.is_ascii);
    let names = found.rows.iter().map(|row| name(&row.name, longest));
    let names = names.chain(["total".into()]).map(|name| said(&name));
    let notes = found.rows.iter().map(|row| row.note.as_deref());
    let head = found.columns.each_ref().map(|column| said(column));
    let rows = names.zip(notes.chain([None])).zip(found.texts());
    let rows: Vec<([String; 4], Option<&str>)> = rows
        .map(|((name, note), figures)| {
            let [first, second, change] = figures.map(|text| said(&text));
            ([name, first, second, change], note)
        })
        .collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|(cells, _)| columns(&cells[at]));
        let head = at.checked_sub(1).map_or(0, |at| columns(&head[at]));
        cells.max().unwrap_or(0).max(head)
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let line = |cells: [&str; 4]| {
        let [name, rest @ ..] = cells;
        let cells = rest.iter().zip(&widths[1..]);
        let cells: Vec<String> =
            cells.map(|(cell, width)| format!("  {}", pad_start(cell, *width))).collect();
        format!("  {}{}", pad_end(name, widths[0]), cells.concat())
    };
    let [first, second, change] = &head;
    let mut lines = vec![Line::default().with(line(["", first, second, change]), Style::Dim)];
    for (cells, note) in &rows {
        let figures = Line::plain(line(cells.each_ref().map(String::as_str)));
        match note.map(said) {
            Some(note) if cut.is_narrow() && !cut.from(4) => {
                lines.extend([figures, Line::plain(format!("    {note}"))]);
            }
            Some(note) if !cut.is_narrow() => {
                let room = cut.width.saturating_sub(figures.width() + 3);
                let note = Some(fitting(&note, room)).filter(|note| columns(note) <= room);
                lines.push(figures.with(format!("   {}", note.unwrap_or_default()), Style::Plain));
            }
            _ => lines.push(figures),
        }
    }
    lines
}
