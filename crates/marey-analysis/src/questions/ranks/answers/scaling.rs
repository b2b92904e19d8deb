//! World sizes against each other, as values.

use serde::Serialize;

/// World sizes against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Scaling {
    /// What was compared: the slowest rank's steady step, or block, or the whole span.
    pub measure: String,
    /// Each world size, ascending; of several jobs of one size, the median of their figures.
    pub rows: Vec<ScalingRow>,
}

/// One world size. The first one is what the others are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ScalingRow {
    /// Number of ranks.
    pub world_size: u32,
    /// Jobs of that size.
    pub n_jobs: u64,
    /// The measure.
    pub duration_ns: f64,
    /// The first row's measure over this one's.
    pub speedup: f64,
    /// Where ranks share each generation: speed-up over the growth of the world, 1 is perfect.
    pub shared_efficiency: f64,
    /// Where each rank makes its own: the first row's measure over this one's, 1 is perfect.
    pub own_efficiency: f64,
    /// Share of the ranks' communication that is waiting; `None` when not known.
    pub waiting_ratio: Option<f64>,
    /// Share of the steps' time in communication; `None` when not known.
    pub communication_ratio: Option<f64>,
}
