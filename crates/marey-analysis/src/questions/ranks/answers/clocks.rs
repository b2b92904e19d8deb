//! Where processes lie on one time axis, as values.

use serde::Serialize;

/// Where the processes lie on one time axis. Moment 0 is the earliest start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Clocks {
    /// Each member, by place.
    pub each: Vec<PlacedClock>,
    /// Wall clock at moment 0, nanoseconds since 1970, as the reference's clock has it; `None` when no file says.
    pub start_unix_ns: Option<u64>,
    /// The largest `error_ns` of all members; `None` when one of them is not known.
    pub error_ns: Option<u64>,
    /// What people should know of it, in words.
    pub note: String,
}

/// One process on the common axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PlacedClock {
    /// The moment of its start on the common axis; `None` when its file does not say when it ran, and nothing else tells.
    pub start_ns: Option<u64>,
    /// What was added to its wall clock to get there.
    pub correction_ns: i64,
    /// The start is right within this much, either way; `None` when nothing is known of that.
    pub error_ns: Option<u64>,
    /// How that is known.
    pub method: ClockMethod,
}

/// How a process's place on the common axis is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockMethod {
    /// Its wall clock, as the machine had it: machines differ by what their time service leaves.
    #[default]
    WallClock,
    /// It read the same clock as the reference: the same machine, not started anew in between.
    SameClock,
    /// Collectives that nobody leaves before all have come bound the difference from both sides; where there are none, `init_process_group`.
    Collectives,
    /// Marks that all ranks set at about the same time. Nobody knows how far apart, so that the error is not known.
    StartMarks,
    /// When it ran is not known.
    NotKnown,
}
