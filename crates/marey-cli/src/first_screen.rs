//! What the commands show first, as wide and as colourful as where it is shown.

use std::io::IsTerminal;
use std::path::Path;

use marey_report::{Report, Shown, escape, first_screen, width};
use ratatui::crossterm::terminal;

use crate::run_folder::why_outside;
use crate::shown_path::shown;

/// Where no terminal says otherwise.
const COLUMNS: usize = 100;

/// The first screen of a job's or a capture's report; `out` is the stream that it goes to.
pub(crate) fn of_report(report: &Report, path: &Path, out: &impl IsTerminal) -> String {
    let more = escape::visible(&format!("marey report {} --full", shown(path)));
    let is_terminal = out.is_terminal();
    let size = is_terminal.then(terminal::size).and_then(Result::ok);
    let look = Shown {
        width: size.map_or(COLUMNS, |(columns, _)| usize::from(columns)),
        has_colour: is_terminal && wants_colour(),
        more: &more,
    };
    let text = first_screen(report, &look);
    match why_outside(report) {
        Some(why) => {
            let width = look.width.min(COLUMNS);
            let words = width::wrapped(&escape::visible(&why), width.saturating_sub(2));
            words
                .iter()
                .fold(text, |text, line| text + "  " + line + "\n")
        }
        None => text,
    }
}

fn wants_colour() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    !is_dumb && !is_set("NO_COLOR")
}
