//! Draws lines of text on a screen of any size.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::charset::Charset;
use super::keys::Choice;
use super::layout;
use super::line::{Line, Role};
use super::sections;
use super::shown::Shown;

/// What parts of lines look like.
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
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
            Self::None
        } else if no_color || is_set("NO_COLOR") {
            Self::Plain
        } else {
            Self::Colours
        }
    }

    fn style(self, role: Role, is_over: bool) -> Style {
        let style = Style::new();
        match (self, role) {
            (Self::None, _) => style,
            (_, Role::Chosen) => style.add_modifier(Modifier::REVERSED),
            (_, Role::Title) | (Self::Plain, Role::Warning) => style.add_modifier(Modifier::BOLD),
            (Self::Colours, Role::Warning) => style.fg(Color::Yellow),
            (Self::Colours, _) if is_over => style.fg(Color::DarkGray),
            (Self::Plain, _) if is_over => style.add_modifier(Modifier::DIM),
            (Self::Colours, Role::Label) => style.fg(Color::Cyan),
            (Self::Colours, Role::Faint) => style.fg(Color::DarkGray),
            (Self::Colours, Role::Open) => style.fg(Color::Green),
            (Self::Colours, Role::Bars) => style.fg(Color::Blue),
            (Self::Plain, Role::Open) => style.add_modifier(Modifier::BOLD),
            (Self::Colours | Self::Plain, _) => style,
        }
    }
}

const HELP: [&str; 9] = [
    "q Esc Ctrl-C       quit",
    "Left Right Tab     another process",
    "Up Down PgUp PgDn  rows of the table",
    "p                  pause, and go on",
    "?                  this help",
    "",
    "mean: of all calls; p50, p95: of the newest 256 turns that were seen",
    "open for: how long what is open has been; xN: several calls are",
    "FPS, blocks/s, steps/s: of the last half minute, change to change",
];

/// Draws everything.
pub(super) fn draw(
    buffer: &mut Buffer,
    shown: &[&Shown],
    choice: &Choice,
    palette: Palette,
    charset: Charset,
) {
    let area = *buffer.area();
    let (columns, rows) = (usize::from(area.width), usize::from(area.height));
    let folders: Vec<_> = shown
        .iter()
        .map(|shown| shown.process.folder.as_path())
        .collect();
    let at = choice.place(&folders);
    let mut lines = Vec::new();
    let has_footer = columns >= 40 && rows >= 8;
    if shown.len() > 1 && rows >= 5 {
        lines.push(tabs(shown, at, columns));
    }
    let n_above = lines.len();
    let room = rows.saturating_sub(n_above + usize::from(has_footer));
    match shown.get(at) {
        _ if choice.shows_help => lines.extend(HELP.map(|text| Line::of(Role::Value, text))),
        Some(process) => {
            let skipped = choice
                .skipped
                .min(sections::n_rows(&process.look).saturating_sub(1));
            lines.extend(layout::process(process, columns, room, skipped));
        }
        None => lines.push(Line::of(Role::Faint, "no process records")),
    }
    lines.resize(
        rows.saturating_sub(usize::from(has_footer)),
        Line::default(),
    );
    if has_footer {
        lines.push(footer(choice));
    }
    let is_over = shown.get(at).is_some_and(|process| !process.is_running());
    for (row, line) in (0..area.height).zip(&lines) {
        let is_body = usize::from(row) >= n_above;
        put(buffer, area, row, line, |role| {
            palette.style(role, is_over && is_body)
        });
    }
    charset.restrict(buffer);
}

fn put(buffer: &mut Buffer, area: Rect, row: u16, line: &Line, style: impl Fn(Role) -> Style) {
    let mut x = area.x;
    for (role, text) in &line.parts {
        let left = usize::from(area.right().saturating_sub(x));
        (x, _) = buffer.set_stringn(x, area.y + row, text, left, style(*role));
    }
}

/// The processes, the chosen one in sight.
fn tabs(shown: &[&Shown], chosen: usize, columns: usize) -> Line {
    let tab = |at: usize| {
        let name = layout::name(shown[at]);
        let mark = if shown[at].is_running() {
            ""
        } else {
            " (ended)"
        };
        if at == chosen {
            Line::of(Role::Chosen, format!("[{name}{mark}]"))
        } else {
            Line::of(Role::Faint, format!(" {name}{mark} "))
        }
    };
    // All, or from the chosen one to the left for half of the width, then to the right; the screen cuts.
    let all: usize = (0..shown.len()).map(|at| tab(at).columns()).sum();
    let mut first = if all <= columns { 0 } else { chosen };
    let mut used = tab(chosen).columns();
    while first > 0 && used + tab(first - 1).columns() <= columns / 2 {
        first -= 1;
        used += tab(first).columns();
    }
    let mut line = Line::default();
    for at in first..shown.len() {
        if line.columns() > columns {
            break;
        }
        line.parts.append(&mut tab(at).parts);
    }
    line
}

fn footer(choice: &Choice) -> Line {
    let keys = "q quit  arrows, Tab switch and scroll  p pause  ? help";
    if choice.is_paused {
        return Line::of(Role::Warning, "paused  ").and(Role::Faint, keys);
    }
    Line::of(Role::Faint, keys)
}
