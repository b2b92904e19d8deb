//! Where a command writes, and how.

use std::io::{self, IsTerminal, Write};

use marey_folder::environment;
use marey_report::escape;
use marey_report::width::wrapped;
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

/// Columns of the terminal that this stream is; `None` when it is none, and nothing is too wide.
pub(crate) fn terminal_width(stream: &impl IsTerminal) -> Option<usize> {
    let size = stream.is_terminal().then(terminal::size)?.ok()?;
    Some(usize::from(size.0))
}

/// A text beside its name, in lines of at most so many columns; below the name where there is no room beside it.
pub(crate) fn entry(name: &str, indent: usize, text: &str, width: usize) -> String {
    let is_beside = width >= 2 * indent + MIN_TEXT;
    let mut lines = if is_beside { Vec::new() } else { wrapped(name.trim_end(), width) };
    let (mut name, indent) = if is_beside { (name, indent) } else { ("", BELOW) };
    for line in wrapped(text, width.saturating_sub(indent).max(1)) {
        lines.push(format!("{name:<indent$}{line}"));
        name = "";
    }
    lines.join("\n") + "\n"
}

/// Columns that a text beside a name has at least.
const MIN_TEXT: usize = 10;
/// Indentation of a text below its name.
const BELOW: usize = 2;

/// Whether the locale is one of UTF-8: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that says something. `None` where none does.
pub(crate) fn locale_is_utf8() -> Option<bool> {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(environment)?;
    Some(is_of_utf8(&locale.to_string_lossy()))
}

fn is_of_utf8(locale: &str) -> bool {
    locale.to_lowercase().replace('-', "").contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_stands_beside_its_name_or_below_it_and_is_never_too_wide() {
        assert_eq!(entry("limit", 8, "one two three", 26), "limit   one two three\n");
        assert_eq!(entry("limit", 8, "one two three", 20), "limit\n  one two three\n");
        for (indent, width) in [(15, 40), (26, 40), (30, 40), (30, 20), (8, 1)] {
            let wide = entry("a/name", indent, &"word/of/a/path ".repeat(9), width);
            // A column more is needed where there is only one.
            let most = width.max(BELOW + 1);
            assert!(wide.lines().all(|line| line.chars().count() <= most), "{wide}");
        }
    }

    #[test]
    fn the_locale_decides() {
        assert!(["C", "POSIX", "de_DE.ISO-8859-1"].iter().all(|locale| !is_of_utf8(locale)));
        assert!(["C.UTF-8", "ja_JP.utf8"].iter().all(|locale| is_of_utf8(locale)));
    }
}
