//! Values as a source gives them, before a key says what they should be, and what is wrong with them.

use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// Longest text that a message repeats, in characters.
const MAX_SHOWN: usize = 60;

/// A place in a file; both numbers begin at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

/// A value that was given. Displayed as a message names it: `the text "yes"`.
#[derive(Clone, Debug, PartialEq)]
pub enum RawValue {
    /// Nothing: `null`, `None`.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Text.
    Text(String),
    /// The text of a variable, which may say something else.
    Said(OsString),
    /// A path; text in a file.
    Path(PathBuf),
    /// A mapping, in the order in which it was given.
    Mapping(Vec<Entry>),
    /// Anything else, in words: `a list`, `a number of more than 64 bits`.
    Other(String),
}

/// A named value of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Where the name is; `None` outside of files.
    pub name_at: Option<Position>,
    /// The value.
    pub value: RawValue,
    /// Where the value is; `None` outside of files.
    pub value_at: Option<Position>,
    /// The bytes of the file in which the value is written, an alias's where its anchor stands; `None` outside of files.
    pub written: Option<Range<usize>>,
}

impl Entry {
    /// An entry that is not in a file.
    pub fn new(name: impl Into<String>, value: RawValue) -> Self {
        Self { name: name.into(), name_at: None, value, value_at: None, written: None }
    }
}

impl RawValue {
    /// A whole number of more than 64 bits.
    pub fn too_large() -> Self {
        Self::Other("a whole number of more than 64 bits".into())
    }
}

impl fmt::Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("nothing (null)"),
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "the number {v}"),
            Self::Float(v) => write!(f, "the number {v:?}"),
            Self::Text(text) if text.chars().count() > MAX_SHOWN => {
                let beginning: String = text.chars().take(MAX_SHOWN).collect();
                write!(f, "the text {beginning:?}…")
            }
            Self::Text(text) if text.starts_with("${") => {
                write!(f, "{text:?}, of Hydra or OmegaConf, which is not resolved here")
            }
            Self::Text(text) => write!(f, "the text {text:?}"),
            Self::Said(text) => Self::Text(text.to_string_lossy().into_owned()).fmt(f),
            Self::Path(path) => write!(f, "the path {}", path.display()),
            Self::Mapping(_) => f.write_str("a mapping"),
            Self::Other(what) => f.write_str(what),
        }
    }
}

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
