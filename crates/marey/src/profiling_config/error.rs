//! What is wrong with a configuration, and where.

use std::fmt;

use super::raw_value::Position;

/// Why a configuration cannot be used. Displayed as `profiling.yaml, line 3, column 5: ` with which key is wrong and what would do.
#[derive(Debug)]
pub struct ConfigError {
    place: String,
    position: Option<Position>,
    key: Option<String>,
    problem: String,
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    /// `place` is a file, a variable, a flag, `keyword` or `mapping`.
    pub(super) fn new(
        place: &str,
        position: Option<Position>,
        key: Option<&str>,
        problem: String,
    ) -> Self {
        Self { place: place.to_owned(), position, key: key.map(str::to_owned), problem }
    }

    /// The place in the file; `None` when it is not in a file, or in all of it.
    pub fn position(&self) -> Option<Position> {
        self.position
    }

    /// The key; `None` when no single key is wrong. A tag's name stands after a point: `session_tags.model`.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some(Position { line, column }) = self.position {
            write!(f, ", line {line}, column {column}")?;
        }
        write!(f, ": {}", self.problem)
    }
}
