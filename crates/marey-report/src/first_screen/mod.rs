//! What a command shows first: how it ended, where the time or the memory went, how fast it was, what is the matter, and what to do next.
//! Built once, as values, by what it is about; a terminal gets it as text in at most 25 lines, a program as JSON.
//!
//! ```text
//! run · trace · snapshot · job · comparison  ─►  FirstScreen  ─┬─►  text    25 lines, no wider than the terminal
//!  (a folder each)                                             └─►  brief   a line of JSON
//! ```

mod account;
mod brief;
mod checks;
mod comparison;
mod differences;
mod drawn;
mod finding;
mod job;
mod line;
mod parts;
mod run;
mod snapshot;
mod tables;
mod text;
mod trace;

use serde::Serialize;

use crate::quantity::Unit;

pub use account::{AccountRows, Part, Row, RowFacts};
pub(crate) use brief::Brief;
pub use brief::Facts;
pub use checks::Checks;
pub use differences::{DifferenceRow, Differences};
pub(crate) use drawn::DrawnScreen;
pub use finding::ScreenFinding;
pub(crate) use parts::{is_waiting, shared_parts};
pub use run::Places;
pub(crate) use tables::findings_table;
pub use text::Shown;

/// What a command shows first. Names in it are as the user gave them: text and JSON escape them.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstScreen {
    /// What it is about: `run`, `trace`.
    pub kind: &'static str,
    /// How it ended, speed, memory and the machine, for programs.
    pub facts: Facts,
    /// What its account, or its differences, and the costs of findings are of.
    pub unit: Unit,
    /// The first line.
    pub headline: Headline,
    /// Where the time or the memory went; `None` where nothing says so.
    pub account: Option<AccountRows>,
    /// Two accounts side by side.
    pub differences: Option<Differences>,
    /// Speed, memory, the machine, in this order.
    pub lines: Vec<Labelled>,
    /// What is the matter, the most important first.
    pub findings: Vec<ScreenFinding>,
    /// What is said below the findings: that there are none, what failed.
    pub closing: Vec<Sentence>,
    /// What was looked for, where nothing is the matter.
    pub checks: Option<Checks>,
    /// What was not recorded, or lost, in words; `None` where nothing is missing.
    pub data: Option<String>,
    /// What is not known, and what to record to know it, for programs.
    pub not_known: Vec<(&'static str, String)>,
    /// Where more is to be seen.
    pub next: Next,
}

/// What it is about, how that ended, in what time, and what it made: `marey: clip.py finished in 1.838 s · 1 clip`.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// `clip.py`.
    pub subject: String,
    /// `finished`; empty where nothing ended.
    pub outcome: String,
    /// How that is.
    pub mood: Mood,
    /// ` in 1.838 s`: right behind it, with its own blank or colon.
    pub after: String,
    /// What may be left out where it does not fit, the last first.
    pub parts: Vec<String>,
}

/// How something is. Colours show it, but words say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mood {
    /// As it should be.
    Good,
    /// Neither.
    Plain,
    /// As it should not be.
    Bad,
}

/// `  Speed   32.8 FPS · first block after 42.6 ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// What it is about.
    pub label: &'static str,
    /// What is said; without any there is no line.
    pub parts: Vec<String>,
    /// It goes early where all would be too long.
    pub may_go: bool,
}

/// A sentence below the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its words.
    pub text: String,
    /// How that is.
    pub mood: Mood,
    /// It goes where all would be too long.
    pub may_go: bool,
}

/// Where more is to be seen. Paths and commands, safe to print.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// As it is shown, the most useful first.
    pub parts: Vec<String>,
    /// The command that shows everything.
    pub full: String,
    /// The page; `None` where none is written.
    pub page: Option<String>,
}

/// What is not known, of what may be missing: whether it is, its name, and what to record to know it.
fn not_known<const N: usize>(
    missing: [(bool, &'static str, &str); N],
) -> Vec<(&'static str, String)> {
    let missing = missing.into_iter().filter(|(is_missing, ..)| *is_missing);
    missing.map(|(_, what, record)| (what, record.to_owned())).collect()
}

/// A sentence's beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// Parts of a line; `None` without any.
fn joined(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(" · "))
}

impl Labelled {
    /// A line that stays.
    pub(crate) fn new(label: &'static str, parts: Vec<String>) -> Self {
        Self { label, parts, may_go: false }
    }
}

impl Sentence {
    /// A sentence that stays, neither good nor bad.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), mood: Mood::Plain, may_go: false }
    }
}
