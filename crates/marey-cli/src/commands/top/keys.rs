//! What keys do, and what they change.

use std::path::{Path, PathBuf};

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What the user has chosen to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// Folder of the process that is shown; the first one if that is gone.
    pub(super) process: Option<PathBuf>,
    /// Rows of the table above the first that is shown.
    pub(super) skipped: usize,
    pub(super) is_paused: bool,
    pub(super) shows_help: bool,
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Quit,
    NextProcess,
    PreviousProcess,
    Down(usize),
    Up(usize),
    Pause,
    Help,
    /// The size has changed.
    Redraw,
}

/// What an event asks for; `None` when it means nothing here.
pub(super) fn action(event: &Event) -> Option<Action> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => of_key(*key),
        Event::Resize(..) | Event::FocusGained => Some(Action::Redraw),
        _ => None,
    }
}

fn of_key(key: KeyEvent) -> Option<Action> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    Some(match key.code {
        KeyCode::Char('c' | 'd') if is_control => Action::Quit,
        KeyCode::Char('l') if is_control => Action::Redraw,
        _ if is_control => return None,
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Action::Quit,
        KeyCode::Tab | KeyCode::Right | KeyCode::Char('l') => Action::NextProcess,
        KeyCode::BackTab | KeyCode::Left | KeyCode::Char('h') => Action::PreviousProcess,
        KeyCode::Down | KeyCode::Char('j') => Action::Down(1),
        KeyCode::Up | KeyCode::Char('k') => Action::Up(1),
        KeyCode::PageDown => Action::Down(10),
        KeyCode::PageUp => Action::Up(10),
        KeyCode::Home => Action::Up(usize::MAX),
        KeyCode::Char('p' | ' ') => Action::Pause,
        KeyCode::Char('?') | KeyCode::F(1) => Action::Help,
        _ => return None,
    })
}

impl Choice {
    /// Does what is asked for, with the processes in the order in which they are shown.
    pub(super) fn apply(&mut self, action: Action, processes: &[&Path], n_rows: usize) {
        let n = processes.len();
        let at = self.place(processes.iter().copied());
        match action {
            Action::NextProcess if n > 0 => self.choose(processes[(at + 1) % n]),
            Action::PreviousProcess if n > 0 => self.choose(processes[(at + n - 1) % n]),
            Action::Down(by) => {
                self.skipped = self.skipped.saturating_add(by).min(n_rows.saturating_sub(1));
            }
            Action::Up(by) => self.skipped = self.skipped.saturating_sub(by),
            Action::Pause => self.is_paused = !self.is_paused,
            Action::Help => self.shows_help = !self.shows_help,
            Action::NextProcess | Action::PreviousProcess | Action::Quit | Action::Redraw => {}
        }
    }

    /// Index of the process that is shown.
    pub(super) fn place<'a>(&self, mut processes: impl Iterator<Item = &'a Path>) -> usize {
        let is_chosen = |process: &Path| self.process.as_deref() == Some(process);
        processes.position(is_chosen).unwrap_or(0)
    }

    fn choose(&mut self, process: &Path) {
        self.process = Some(process.to_owned());
        self.skipped = 0;
    }
}
