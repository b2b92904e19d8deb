//! How wide the terminal is.

use std::io::IsTerminal;

use ratatui::crossterm::terminal;

/// Columns of the terminal that this stream is; `None` when it is none, and nothing is too wide.
pub(crate) fn terminal_width(stream: &impl IsTerminal) -> Option<usize> {
    let size = stream.is_terminal().then(terminal::size)?.ok()?;
    Some(usize::from(size.0))
}
