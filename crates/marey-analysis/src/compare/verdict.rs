//! What became of a thing, and what chance was judged by.

use serde::Serialize;

/// What became of a measure, a section or a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No change that matters: it is below the floor, or nothing but chance and a large change is ruled out.
    Same,
    /// Changed for the better.
    Better,
    /// Changed for the worse.
    Worse,
    /// Changed, and that is neither good nor bad by itself: a count of calls, a temperature.
    Different,
    /// Too few samples, or an interval too wide for an answer.
    CannotTell,
    /// The baseline does not have it.
    New,
    /// The candidate does not have it.
    Gone,
    /// It has another name on the other side: a guess by its place, its time and what is within it.
    Renamed,
}

/// What chance was judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Each run is a sample: at least two on both sides.
    Repeats,
    /// Each call or iteration is a sample, of runs that stand alone. What differs between any two runs cannot be seen.
    Calls,
    /// One value on each side, against a documented floor.
    SingleValues,
}
