//! Draws lines of text on a screen of any size.

use marey_folder::environment;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::keys::Choice;
use super::layout::{self, Shown};
use super::sections;

/// The line that says what is shown.
pub(super) const TITLE: Style = Style::new().add_modifier(Modifier::BOLD);
/// What a figure is.
pub(super) const LABEL: Style = Style::new().fg(Color::Cyan);
/// What is less important.
pub(super) const FAINT: Style = Style::new().fg(Color::DarkGray);
/// What is going on now.
pub(super) const OPEN: Style = Style::new().fg(Color::Green);
/// Bars of a history.
pub(super) const BARS: Style = Style::new().fg(Color::Blue);
/// What somebody should know.
pub(super) const WARNING: Style = Style::new().fg(Color::Yellow);
/// Chosen among several.
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// What a terminal shows of styles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    Colours,
    /// Bold and reversed only.
    Plain,
    /// Nothing but the characters.
    None,
}

impl Palette {
    /// As asked for, or as the environment says: `NO_COLOR` set to anything, or a terminal without abilities.
    pub(super) fn of_environment(no_color: bool) -> Self {
        if std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
            Self::None
        } else if no_color || environment("NO_COLOR").is_some() {
            Self::Plain
        } else {
            Self::Colours
        }
    }

    fn restrict(self, cell: &mut Cell, is_over: bool) {
        let is_plain = !cell.modifier.intersects(Modifier::BOLD | Modifier::REVERSED);
        let is_grey = is_over && is_plain && cell.fg != Color::Yellow;
        match self {
            Self::Colours if is_grey => cell.fg = Color::DarkGray,
            Self::Colours => {}
            Self::Plain => {
                if is_grey {
                    cell.modifier |= Modifier::DIM;
                } else if [Color::Yellow, Color::Green].contains(&cell.fg) {
                    cell.modifier |= Modifier::BOLD;
                }
                cell.fg = Color::Reset;
            }
            Self::None => {
                cell.set_style(Style::reset());
            }
        }
    }
}

/// Replaces what a terminal without UTF-8 cannot show; the columns stay.
fn restrict_to_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let shown = cell.symbol().chars().next().map_or(' ', ascii);
            cell.set_char(shown);
        }
    }
}

/// What stands for a character.
fn ascii(c: char) -> char {
    match c {
        '▁' => '_',
        '▂' => '.',
        '▃' => ':',
        '▄' | '─' => '-',
        '▅' => '=',
        '▆' => '+',
        '▇' => '*',
        '█' => '#',
        'µ' => 'u',
        '°' => ' ',
        '…' => '~',
        '×' => 'x',
        _ => '?',
    }
}

const HELP: [&str; 9] = [
    "q Esc Ctrl-C       quit",
    "Left Right Tab     another process",
    "Up Down PgUp PgDn  rows of the table",
    "p                  pause, and go on",
    "?                  this help",
    "",
    "mean: of all calls; p50, p95: of the newest 256 iterations that were seen",
    "open for: how long what is open has been; xN: several calls are",
    "FPS, blocks/s, steps/s: of the last half minute, from record to record",
];

/// Draws everything.
pub(super) fn draw(
    buffer: &mut Buffer,
    shown: &[Shown<'_>],
    choice: &Choice,
    palette: Palette,
    is_ascii: bool,
) {
    let area = *buffer.area();
    let (columns, rows) = (usize::from(area.width), usize::from(area.height));
    let at = choice.place(shown.iter().map(|shown| &*shown.process.folder));
    let mut lines = Vec::new();
    let has_footer = columns >= 40 && rows >= 8;
    if shown.len() > 1 && rows >= 5 {
        lines.push(tabs(shown, at, columns));
    }
    let n_above = lines.len();
    let room = rows.saturating_sub(n_above + usize::from(has_footer));
    match shown.get(at) {
        _ if choice.shows_help => lines.extend(HELP.map(Line::from)),
        Some(process) => {
            let n_rows = sections::n_rows(process.now);
            let skipped = choice.skipped.min(n_rows.saturating_sub(1));
            lines.extend(layout::process(*process, columns, room, skipped));
        }
        None => lines.push(Line::styled("no process records", FAINT)),
    }
    lines.resize(n_above + room, Line::default());
    if has_footer {
        lines.push(footer(choice));
    }
    let is_over = shown.get(at).is_some_and(|s| !s.now.look.is_running());
    for (row, line) in (0..area.height).zip(&lines) {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
    for (at, cell) in buffer.content.iter_mut().enumerate() {
        palette.restrict(cell, is_over && at >= n_above * columns);
    }
    if is_ascii {
        restrict_to_ascii(buffer);
    }
}

/// The processes, the chosen one in sight.
fn tabs(shown: &[Shown<'_>], chosen: usize, columns: usize) -> Line<'static> {
    let tab = |at: usize| {
        let name = layout::name(shown[at].process);
        let is_running = shown[at].now.look.is_running();
        let mark = if is_running { "" } else { " (ended)" };
        if at == chosen {
            Span::styled(format!("[{name}{mark}]"), CHOSEN)
        } else {
            Span::styled(format!(" {name}{mark} "), FAINT)
        }
    };
    // All, or from the chosen one to the left for half of the width, then to the right; the screen cuts.
    let all: usize = (0..shown.len()).map(|at| tab(at).width()).sum();
    let mut first = if all <= columns { 0 } else { chosen };
    let mut used = tab(chosen).width();
    while first > 0 && used + tab(first - 1).width() <= columns / 2 {
        first -= 1;
        used += tab(first).width();
    }
    (first..shown.len()).map(tab).collect()
}

fn footer(choice: &Choice) -> Line<'static> {
    let paused = if choice.is_paused { "paused  " } else { "" };
    let keys = "q quit  arrows, Tab switch and scroll  p pause  ? help";
    Line::from(vec![Span::styled(paused, WARNING), Span::styled(keys, FAINT)])
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    #[test]
    fn without_utf_8_everything_is_ascii_in_its_place() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "▁█ µs 漢字é", Style::new());
        restrict_to_ascii(&mut buffer);
        let row: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(row, "_# us ? ? ? ");
    }
}
