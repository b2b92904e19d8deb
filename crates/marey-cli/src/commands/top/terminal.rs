//! The live view: takes the terminal, and gives it back whatever happens.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTERM};

use super::View;
use super::keys::{Action, Choice, action};
use super::screen::{Palette, draw};
use super::sections;
use crate::exit::Exit;

/// Signals are answered within this time.
const PATIENCE: Duration = Duration::from_millis(200);

/// Shows the processes until the user has seen enough, or a signal comes.
pub(super) fn show(
    view: &mut View,
    interval: Duration,
    palette: Palette,
    is_ascii: bool,
) -> Result<Exit> {
    let signal = Arc::new(AtomicUsize::new(0));
    // Not the hang-up: it comes when the terminal is gone, and there is nothing to give back.
    for number in [SIGINT, SIGQUIT, SIGTERM] {
        let value = usize::try_from(number).unwrap_or(0);
        signal_hook::flag::register_usize(number, Arc::clone(&signal), value)
            .context("cannot take signals")?;
    }
    // A panic gives the terminal back, too, before it says why.
    let terminal = ratatui::try_init().context("cannot take the terminal")?;
    let mut screen = Screen { terminal, view, choice: Choice::default(), palette, is_ascii };
    let ended = screen.run(interval, &signal);
    ratatui::try_restore().context("cannot give the terminal back")?;
    ended.context("the terminal is gone")?;
    match i32::try_from(signal.load(Relaxed)) {
        Ok(number) if number > 0 => Ok(Exit::Signal(number)),
        _ => Ok(Exit::SUCCESS),
    }
}

struct Screen<'a> {
    terminal: DefaultTerminal,
    view: &'a mut View,
    choice: Choice,
    palette: Palette,
    is_ascii: bool,
}

impl Screen<'_> {
    fn run(&mut self, interval: Duration, signal: &AtomicUsize) -> io::Result<()> {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        let mut next_ns = marey::monotonic_ns().saturating_add(interval_ns);
        self.draw()?;
        while signal.load(Relaxed) == 0 {
            let now_ns = marey::monotonic_ns();
            if now_ns >= next_ns {
                next_ns = now_ns.saturating_add(interval_ns);
                if !self.choice.is_paused {
                    self.view.refresh();
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
        let Some(action) = wait(patience)? else {
            return Ok(false);
        };
        if action == Action::Quit {
            return Ok(true);
        }
        let shown = self.view.shown();
        let folders: Vec<&Path> = shown.iter().map(|s| &*s.process.folder).collect();
        let chosen = shown.get(self.choice.place(folders.iter().copied()));
        let n_rows = chosen.map_or(0, |shown| sections::n_rows(shown.now));
        self.choice.apply(action, &folders, n_rows);
        self.draw()?;
        Ok(false)
    }

    fn draw(&mut self) -> io::Result<()> {
        let shown = self.view.shown();
        let (choice, palette, is_ascii) = (&self.choice, self.palette, self.is_ascii);
        self.terminal.draw(|frame| draw(frame.buffer_mut(), &shown, choice, palette, is_ascii))?;
        Ok(())
    }
}

/// What an event within this time asks for. The terminal is asked whether it is still there before crossterm reads from it, because that
/// reads on for ever when it is not; there is nothing more to see then.
fn wait(patience: Duration) -> io::Result<Option<Action>> {
    let stdin = io::stdin();
    let mut wanted = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec::try_from(patience).ok();
    // A change of the terminal's size interrupts the wait and is an event, too.
    match rustix::event::poll(&mut wanted, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if wanted[0].revents().intersects(gone) {
        return Ok(Some(Action::Quit));
    }
    match event::poll(Duration::ZERO) {
        Ok(true) => Ok(action(&event::read()?)),
        Ok(false) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}
