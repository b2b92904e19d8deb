//! A piece of a long text in memory, which moves forwards.

use std::io::{ErrorKind, Read};

use super::error::ReadError;

/// What there is of the text in memory.
///
/// ```text
/// the text    ──────────────────────────────────────────────►
///                          ╎ dropped │ rest() ╎ not read yet
///                          ╎◄──── at most `longest` ────►╎
/// ```
///
/// What is at its front and was passed makes room for what comes. It grows only while nothing was passed, that is, while
/// one thing does not fit into it.
pub(super) struct Window<'a> {
    source: Box<dyn Read + 'a>,
    bytes: Vec<u8>,
    from: usize,
    to: usize,
    /// Bytes before the first one in memory.
    dropped: u64,
    is_at_end: bool,
    longest: usize,
    /// Why the text ends before its end.
    damage: Option<String>,
}

/// What came of asking for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    /// There are more bytes now.
    Read,
    /// There are none.
    End,
    /// There may be, but there is no room.
    Full,
}

/// Bytes that are read at once. Small enough that they are still in the processor's cache when they are looked at.
const WINDOW: usize = 1 << 18;

impl<'a> Window<'a> {
    /// Of everything that `source` gives, never more than `longest` bytes at once.
    pub(super) fn new(source: impl Read + 'a, longest: usize) -> Self {
        Self {
            source: Box::new(source),
            bytes: vec![0; WINDOW.min(longest)],
            from: 0,
            to: 0,
            dropped: 0,
            is_at_end: false,
            longest,
            damage: None,
        }
    }

    /// What is in memory and was not passed.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or_default()
    }

    /// Passes `count` bytes.
    pub(super) fn advance(&mut self, count: usize) {
        self.from = self.from.saturating_add(count).min(self.to);
    }

    /// Where the rest begins in the text.
    pub(super) fn position(&self) -> u64 {
        self.dropped + self.from as u64
    }

    /// Why the text ended before its end; `None` when it did not.
    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Reads on, until the window is full or the text ends.
    pub(super) fn more(&mut self) -> Result<More, ReadError> {
        if self.is_at_end {
            return Ok(More::End);
        }
        self.make_room();
        if self.to == self.bytes.len() {
            return Ok(More::Full);
        }
        let before = self.to;
        while self.to < self.bytes.len() && !self.is_at_end {
            match self.source.read(&mut self.bytes[self.to..]) {
                Ok(0) => self.is_at_end = true,
                Ok(count) => self.to += count,
                Err(error) => self.failed(error)?,
            }
        }
        Ok(if self.to > before { More::Read } else { More::End })
    }

    fn make_room(&mut self) {
        if self.from > 0 {
            self.bytes.copy_within(self.from..self.to, 0);
            self.dropped += self.from as u64;
            self.to -= self.from;
            self.from = 0;
        }
        if self.to == self.bytes.len() && self.to < self.longest {
            let length = (self.to * 2).min(self.longest);
            self.bytes.resize(length, 0);
        }
    }

    /// Damage of what was compressed ends the text; a source that cannot be read, or gives too much, is an error.
    fn failed(&mut self, error: std::io::Error) -> Result<(), ReadError> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                self.damage = Some(error.to_string());
                self.is_at_end = true;
                Ok(())
            }
            _ => Err(ReadError::from_io(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            match (self.0.split_first(), into.first_mut()) {
                (Some((first, rest)), Some(to)) => {
                    (*to, self.0) = (*first, rest);
                    Ok(1)
                }
                _ => Ok(0),
            }
        }
    }

    #[test]
    fn it_moves_on_and_grows_only_when_nothing_was_passed() {
        let mut window = Window::new(Slow(b"0123456789"), 4);
        assert_eq!(window.more().unwrap(), More::Read);
        assert_eq!(window.rest(), b"0123");
        assert_eq!(window.more().unwrap(), More::Full);
        window.advance(3);
        assert_eq!(window.position(), 3);
        assert_eq!(window.more().unwrap(), More::Read);
        assert_eq!(window.rest(), b"3456");
        window.advance(4);
        assert_eq!(window.more().unwrap(), More::Read);
        assert_eq!((window.rest(), window.position()), (&b"789"[..], 7));
        assert_eq!(window.more().unwrap(), More::End);
        window.advance(99);
        assert_eq!((window.rest(), window.position()), (&b""[..], 10));
    }

    #[test]
    fn a_source_that_fails_is_an_error_and_a_damaged_one_ends() {
        struct Failing(ErrorKind);
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(self.0.into())
            }
        }
        let mut window = Window::new(Failing(ErrorKind::InvalidData), 4);
        assert_eq!(window.more().unwrap(), More::End);
        assert!(window.damage().is_some());
        let mut window = Window::new(Failing(ErrorKind::PermissionDenied), 4);
        assert!(matches!(window.more(), Err(ReadError::Io(_))));
    }
}
