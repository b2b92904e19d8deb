//! Where a command writes.

use std::io::{self, IsTerminal, Write};

use marey_report::escape;
use ratatui::crossterm::terminal;

/// The two streams of a command.
pub(crate) struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    is_of_process: bool,
}

impl<'a> Console<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err, is_of_process: false }
    }

    /// The process is the command, and its standard streams are these.
    pub(crate) fn of_process(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { is_of_process: true, ..Self::new(out, err) }
    }

    /// Standard input and output are another program's from now on: whoever is at the other end learns when that closes them.
    pub(crate) fn hand_over(&mut self) {
        self.out.flush().ok();
        let nothing = std::fs::File::options().read(true).write(true).open("/dev/null");
        if let (true, Ok(nothing)) = (self.is_of_process, nothing) {
            rustix::stdio::dup2_stdin(&nothing).ok();
            rustix::stdio::dup2_stdout(&nothing).ok();
        }
    }

    /// Columns of the terminal that standard output is; `None` where it is none.
    pub(crate) fn width(&self) -> Option<usize> {
        let is_terminal = self.is_of_process && io::stdout().is_terminal();
        let size = is_terminal.then(terminal::size)?.ok()?;
        Some(usize::from(size.0))
    }

    /// Writes what was asked for to standard output. It is escaped already.
    pub(crate) fn show(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Gives standard output to whoever writes bytes that are for no terminal.
    pub(crate) fn write_bytes(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        write(self.out)
    }

    /// Says something on standard error, in one line. A standard error that cannot be written changes nothing.
    pub(crate) fn say(&mut self, text: &str) {
        writeln!(self.err, "marey: {}", escape::visible(text)).ok();
    }

    /// Writes text that is escaped already to standard error, as it is.
    pub(crate) fn say_as_it_is(&mut self, text: &str) {
        self.err.write_all(text.as_bytes()).ok();
    }

    /// Everything has arrived.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.err.flush().ok();
        self.out.flush()
    }
}
