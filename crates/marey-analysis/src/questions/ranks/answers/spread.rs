//! Figures over ranks, as values.

use serde::Serialize;

/// A figure over ranks. Ranks by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct OverRanks {
    /// Ranks that have it.
    pub n_ranks: u64,
    /// Lowest.
    pub min_ns: u64,
    /// Middle one, or mean of the middle two.
    pub median_ns: f64,
    /// Mean.
    pub mean_ns: f64,
    /// Highest.
    pub max_ns: u64,
    /// The rank that has the highest; the first of equals.
    pub slowest: u32,
    /// Highest less lowest.
    pub spread_ns: u64,
    /// `spread_ns` as a share of the median; `None` when that is 0.
    pub spread_ratio: Option<f64>,
}

/// A call path over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SectionSpread {
    /// Names from the outermost section to this one.
    pub path: Vec<String>,
    /// Turns of a loop instead of a section.
    pub is_iteration: bool,
    /// Calls of all ranks.
    pub count: u64,
    /// Calls that were left by an error.
    pub errors: u64,
    /// Sum of their durations.
    pub total_ns: u64,
    /// Each rank's total, of ranks that completed a call; `None` when no rank did, as all below.
    pub totals: Option<OverRanks>,
    /// Each rank's mean duration of a call.
    pub means: Option<OverRanks>,
    /// Shortest call of all.
    pub min_ns: Option<u64>,
    /// Longest call of all.
    pub max_ns: Option<u64>,
    /// Middle of all calls of all ranks (±3.1 %, ±6.3 % where clocks tick otherwise than in nanoseconds); `None` also when a rank that
    /// completed calls has no histogram.
    pub median_ns: Option<u64>,
    /// 95 % took no longer; likewise.
    pub p95_ns: Option<u64>,
    /// Ranks in which it was open when they ended.
    pub n_open: u64,
}

/// Steps, or blocks, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TurnsOverRanks {
    /// Turns of all ranks.
    pub count: u64,
    /// Ranks differ in how many they have: lowest and highest. `None` when they agree.
    pub counts_differ: Option<(u64, u64)>,
    /// Ranks of which turns are lost, so that the n-th of the rest need not be the n-th of the others: by place. They have a median, and
    /// are not in `each` and `heat_map`.
    pub out_of_step: Vec<u32>,
    /// Turns of a cell.
    pub per_cell: u32,
    /// Each rank's median of turns that are no warm-up, by rank; `None` when no rank has one.
    pub medians: Option<OverRanks>,
    /// Each cell over ranks, in order of time.
    pub each: Vec<TurnSpread>,
    /// Rank by cell.
    pub heat_map: HeatMap,
}

/// One cell of turns over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TurnSpread {
    /// Number of its first turn, from 0.
    pub first: u64,
    /// It holds the first turn of a rank, which warms up.
    pub is_warm_up: bool,
    /// Mean duration of a turn of the cell, by rank.
    pub durations: OverRanks,
    /// The same without the time in collectives, of ranks that recorded any; `None` when none did.
    pub own: Option<OverRanks>,
}

/// Rank by cell: mean duration of the cell's turns, row after row; `None` where a rank has no such turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HeatMap {
    /// Places of the ranks that have turns: the rows.
    pub places: Vec<u32>,
    /// Number of columns.
    pub n_cells: u32,
    /// `places.len() · n_cells` values.
    pub durations_ns: Vec<Option<u64>>,
    /// The same without the time in collectives; empty when no rank recorded any.
    pub own_ns: Vec<Option<u64>>,
}
