//! Who is slow, as values.

use serde::Serialize;

/// Who is slow, and who only waits. A rank's *own time* of a turn is its duration without the time it waits for others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Stragglers {
    /// What the scores are made of, in words; says so where waiting is not known and a slow rank cannot be told from one that waits.
    pub basis: String,
    /// Waiting is known: `own_ns` is without it.
    pub is_waiting_known: bool,
    /// Each rank with a figure, the highest score first.
    pub ranks: Vec<RankStraggler>,
}

/// One rank against the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankStraggler {
    /// Its place.
    pub place: u32,
    /// Its own time between the calls that all ranks share, as the basis says; else of a steady turn (median), or of the whole run.
    pub own_ns: u64,
    /// What it waited in as much time; `None` when not known.
    pub waiting_ns: Option<u64>,
    /// `own_ns` against the median of all ranks: 0.1 is ten percent slower.
    pub score: f64,
    /// What it comes to.
    pub verdict: StragglerVerdict,
    /// When it became slow, since the start of its run, within a twelfth of the time: its score is of the time from then on. `None` where it is
    /// slow over the whole time, or not slow.
    pub since_ns: Option<u64>,
    /// The denoising step then; `None` also where it has no steps by then.
    pub since_step: Option<u64>,
}

/// What a rank is to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StragglerVerdict {
    /// As fast as the others, but for chance.
    #[default]
    Even,
    /// Its own work takes longer: others wait for it.
    Slow,
    /// It takes as long as the slow ones, but waits for them.
    Waits,
    /// Who waits for whom is not known, or what is chance.
    Unknown,
}
