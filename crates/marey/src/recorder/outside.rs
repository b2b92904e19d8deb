//! A program that another process records, because it does not record itself.

use super::arguments::redacted;
use crate::clock::{self, Anchor};

/// A program that is recorded from outside: what can be seen of its process, by one that is not it. See [`Config::outside`].
///
/// [`Config::outside`]: super::Config::outside
#[derive(Clone, Debug)]
pub struct Outside {
    pub(crate) pid: u32,
    /// Prompts and secrets are replaced.
    pub(crate) command: Vec<String>,
    /// The capture begins here, also when it is opened later.
    pub(crate) start: Anchor,
}

impl Outside {
    /// A program that is started next, with this command line. Its time begins now: what it takes to be started is its own.
    pub fn starting(command: impl IntoIterator<Item = String>) -> Self {
        Self { pid: 0, command: redacted(command.into_iter()), start: clock::anchor() }
    }

    /// The program runs as this process.
    #[must_use]
    pub fn started(self, pid: u32) -> Self {
        Self { pid, ..self }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }
}
