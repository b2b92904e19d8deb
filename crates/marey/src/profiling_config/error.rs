//! What is wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

use super::raw_value::{Position, RawValue};

/// Where a value comes from. Displayed as messages name it: `profiling.yaml, line 3, column 5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody gave it.
    Default,
    /// A YAML file.
    File(PathBuf, Option<Position>),
    /// A mapping in the program.
    Mapping,
    /// A variable of the environment.
    Variable(String),
    /// A flag of the command line.
    Argument(String),
    /// A keyword argument of a call.
    Keyword,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, None) => write!(f, "{}", path.display()),
            Self::File(path, Some(Position { line, column })) => {
                write!(f, "{}, line {line}, column {column}", path.display())
            }
            Self::Mapping => f.write_str("mapping"),
            Self::Variable(name) => f.write_str(name),
            Self::Argument(flag) => f.write_str(flag),
            Self::Keyword => f.write_str("keyword"),
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: {problem}")]
pub struct ConfigError {
    /// Where it is wrong.
    pub origin: Origin,
    /// What is wrong.
    #[source]
    pub problem: Box<Problem>,
}

impl ConfigError {
    pub(super) fn new(origin: Origin, problem: Problem) -> Self {
        Self { origin, problem: Box::new(problem) }
    }

    /// The place in the file; `None` when it is not in a file, or in all of it.
    pub fn position(&self) -> Option<Position> {
        match self.origin {
            Origin::File(_, position) => position,
            _ => None,
        }
    }

    /// The key; `None` when no single key is wrong.
    pub fn key(&self) -> Option<&str> {
        match &*self.problem {
            Problem::UnknownKey { key, .. }
            | Problem::Misfit { key, .. }
            | Problem::Duplicate { key }
            | Problem::Misplaced { key } => Some(key),
            _ => None,
        }
    }
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is no such key.
    #[error("unknown key `{key}`; {}", did_you_mean(*.nearest))]
    UnknownKey {
        /// As it was written.
        key: String,
        /// The valid key that is spelt most like it; `None` when none is near.
        nearest: Option<&'static str>,
    },
    /// A value of another type, or out of its range.
    #[error("`{key}` is {found}, but must be {expected}")]
    Misfit {
        /// The key; a tag's name stands after a point: `session_tags.model`.
        key: String,
        /// What was given.
        found: RawValue,
        /// What can be given.
        expected: &'static str,
    },
    /// A key stands twice in a mapping.
    #[error("`{key}` stands here for the second time")]
    Duplicate {
        /// The key.
        key: String,
    },
    /// A key stands beside the root instead of below it.
    #[error("`{key}` stands beside `profiling:`, not below it; indent it")]
    Misplaced {
        /// The key.
        key: String,
    },
    /// The file has something, but not the root key.
    #[error("the key `profiling:` is missing, below which all others stand; found {found}")]
    NoRoot {
        /// What stands there instead.
        found: String,
    },
    /// What stands below the root, or is given as a mapping, is none.
    #[error("the keys must be {expected}, found {found}")]
    NoMapping {
        /// What was given.
        found: RawValue,
        /// What can be given.
        expected: &'static str,
    },
    /// The file is no YAML, or too large, or has several documents.
    #[error("not usable as YAML: {0}")]
    Yaml(String),
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] std::io::Error),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "no valid key has a similar name".into(),
        |key| format!("did you mean `{key}`?"),
    )
}
