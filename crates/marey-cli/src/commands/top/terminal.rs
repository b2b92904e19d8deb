//! The live view: takes the terminal, and gives it back whatever happens.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::charset::Charset;
use super::keys::{Action, Choice, action};
use super::screen::{Palette, draw};
use super::sections;
use super::shown::Shown;
use super::watch::Watch;
use crate::exit::Exit;

/// Signals are answered within this time.
const PATIENCE: Duration = Duration::from_millis(200);

/// Shows the processes until the user has seen enough, or a signal comes.
pub(super) fn show(
    watch: &mut Watch,
    interval: Duration,
    palette: Palette,
    charset: Charset,
) -> Result<Exit> {
    let signal = Arc::new(AtomicUsize::new(0));
    for number in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        let value = usize::try_from(number).unwrap_or(0);
        signal_hook::flag::register_usize(number, Arc::clone(&signal), value)
            .context("cannot take signals")?;
    }
    // A panic gives the terminal back, too, before it says why.
    let terminal = ratatui::try_init().context("cannot take the terminal")?;
    let mut view = View {
        terminal,
        watch,
        choice: Choice::default(),
        palette,
        charset,
    };
    let ended = view.run(interval, &signal);
    ratatui::try_restore().context("cannot give the terminal back")?;
    ended.context("the terminal is gone")?;
    match i32::try_from(signal.load(Relaxed)) {
        Ok(number) if number > 0 => Ok(Exit::Signal(number)),
        _ => Ok(Exit::SUCCESS),
    }
}

struct View<'a> {
    terminal: DefaultTerminal,
    watch: &'a mut Watch,
    choice: Choice,
    palette: Palette,
    charset: Charset,
}

impl View<'_> {
    fn run(&mut self, interval: Duration, signal: &AtomicUsize) -> io::Result<()> {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let mut next_ns = marey::monotonic_ns().saturating_add(interval_ns);
        self.draw()?;
        while signal.load(Relaxed) == 0 {
            let now_ns = marey::monotonic_ns();
            if now_ns >= next_ns {
                next_ns = now_ns.saturating_add(interval_ns);
                if !self.choice.is_paused {
                    self.watch.refresh();
                    self.draw()?;
                }
            }
            let left = Duration::from_nanos(next_ns.saturating_sub(marey::monotonic_ns()));
            if self.is_left(left.min(PATIENCE))? {
                break;
            }
        }
        Ok(())
    }

    /// Waits for keys and does what they ask for; whether the user has seen enough.
    fn is_left(&mut self, patience: Duration) -> io::Result<bool> {
        if !poll(patience)? {
            return Ok(false);
        }
        let Some(action) = action(&event::read()?) else {
            return Ok(false);
        };
        let shown: Vec<&Shown> = self.watch.shown().collect();
        let folders: Vec<&Path> = shown.iter().map(|s| s.process.folder.as_path()).collect();
        let chosen = shown.get(self.choice.place(&folders));
        let n_rows = chosen.map_or(0, |shown| sections::n_rows(&shown.look));
        self.choice.apply(action, &folders, n_rows);
        self.draw()?;
        Ok(action == Action::Quit)
    }

    fn draw(&mut self) -> io::Result<()> {
        let shown: Vec<&Shown> = self.watch.shown().collect();
        let (choice, palette, charset) = (&self.choice, self.palette, self.charset);
        self.terminal
            .draw(|frame| draw(frame.buffer_mut(), &shown, choice, palette, charset))?;
        Ok(())
    }
}

/// Whether an event has come. A signal in between is no failure.
fn poll(patience: Duration) -> io::Result<bool> {
    match event::poll(patience) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        other => other,
    }
}
