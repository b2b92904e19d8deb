//! Rows of where the time went, of one account and of two side by side.

use std::collections::BTreeSet;

use super::{Cut, NAME};
use crate::first_screen::account::{AccountRows, Part};
use crate::first_screen::differences::Differences;
use crate::first_screen::line::{Line, Style, bar, name, paragraph, spelled};
use crate::width::{columns, pad_end, pad_start};

const SHORT_NAME: usize = 16;

/// Rows that add up as they are printed.
pub(super) fn lines(account: &AccountRows, cut: &Cut) -> Vec<Line> {
    let (least, most) = match cut.level {
        0 => (0.0, usize::MAX),
        1..7 => (0.005, usize::MAX),
        _ => (0.005, 3),
    };
    let account = account.with_fewer(least, most);
    let (column, times) = account.printed();
    let times: Vec<String> =
        times.into_iter().map(|quanta| spelled(&column.shown(quanta), cut.is_ascii)).collect();
    let shares = account.shares();
    let longest = if cut.is_narrow() { SHORT_NAME } else { NAME };
    let names = names(&account, longest, cut);
    let name_width = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    let time_width = times.iter().map(|time| columns(time)).max().unwrap_or(0);
    let head = account.head.iter();
    let head = head.flat_map(|head| paragraph(&spelled(head, cut.is_ascii), 2, cut.width, 2));
    let mut lines: Vec<Line> = head.map(Line::plain).collect();
    for (at, row) in account.rows.iter().enumerate() {
        let share = format!("{}.{} %", shares[at] / 10, shares[at] % 10);
        let figures = format!(
            "  {}  {}  {}",
            pad_end(&names[at], name_width),
            pad_start(&times[at], time_width),
            pad_start(&share, 7)
        );
        let style = if row.part == Part::Waiting { Style::Dim } else { Style::Bar };
        let bar = bar(row.held, account.total, cut.cells(), cut.is_ascii);
        let bar = pad_end(&bar, cut.cells());
        let mut line = Line::plain(figures);
        if cut.cells() > 0 {
            line = line.with("  ", Style::Plain).with(bar, style);
        }
        lines.extend(with_note(line, row.note.as_deref(), "  ", true, cut));
    }
    lines
}

/// Names in so many columns, more where two would be the same.
fn names(account: &AccountRows, longest: usize, cut: &Cut) -> Vec<String> {
    let shown = |longest: usize| -> Vec<String> {
        let rows = account.rows.iter();
        rows.map(|row| spelled(&name(&row.name, longest), cut.is_ascii)).collect()
    };
    let are_told_apart = |names: &Vec<String>| {
        let distinct: BTreeSet<&String> = names.iter().collect();
        distinct.len() == names.len()
    };
    let wider = [longest, NAME, 2 * NAME, cut.width / 2].map(shown);
    wider.into_iter().find(are_told_apart).unwrap_or_else(|| shown(longest))
}

/// A row with its note behind it, as far as it fits or only whole, or below it where the terminal is narrow and there may be more lines.
fn with_note(row: Line, note: Option<&str>, gap: &str, may_be_cut: bool, cut: &Cut) -> Vec<Line> {
    let Some(note) = note.map(|note| cut.said(note)) else {
        return vec![row];
    };
    if cut.is_narrow() {
        let below = Some(Line::plain(format!("    {note}"))).filter(|_| !cut.from(4));
        return [row].into_iter().chain(below).collect();
    }
    let room = cut.width.saturating_sub(row.width() + gap.len());
    let shown = Some(fitting(&note, room)).filter(|note| may_be_cut || columns(note) <= room);
    vec![row.with(format!("{gap}{}", shown.unwrap_or_default()), Style::Plain)]
}

/// A note without what is in parentheses, or after a colon, at its end where that does not fit.
fn fitting(note: &str, room: usize) -> &str {
    match note.rsplit_once(" (").or(note.rsplit_once(": ")) {
        Some((short, _)) if columns(note) > room => short,
        _ => note,
    }
}

/// Columns of a name beside two accounts where the terminal is narrow.
const SHORTER_NAME: usize = 14;

/// A row a part and one of the totals, with the names of the columns above them.
pub(super) fn differences(found: &Differences, cut: &Cut) -> Vec<Line> {
    let longest = if cut.is_narrow() { SHORTER_NAME } else { NAME };
    let names = found.rows.iter().map(|row| name(&row.name, longest));
    let names = names.chain(["total".into()]).map(|name| cut.said(&name));
    let notes = found.rows.iter().map(|row| row.note.as_deref());
    let head = found.columns.each_ref().map(|column| cut.said(column));
    let rows = names.zip(notes.chain([None])).zip(found.texts());
    let rows: Vec<([String; 4], Option<&str>)> = rows
        .map(|((name, note), figures)| {
            let [first, second, change] = figures.map(|text| cut.said(&text));
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
        lines.extend(with_note(figures, *note, "   ", false, cut));
    }
    lines
}
