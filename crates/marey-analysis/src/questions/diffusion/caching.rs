use serde::Serialize;

use super::durations::Durations;

/// What caches did for steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepCaching {
    /// Steps that a cache answered.
    pub cached: Option<Durations>,
    /// Steps of which a cache was asked in vain, or not at all, warm-up apart.
    pub computed: Option<Durations>,
    /// How many steps a cache answered.
    pub n_cached: u64,
    /// How many were computed, warm-up included.
    pub n_computed: u64,
    /// Median computed step less median cached step, times the cached steps; `None` when either is not known. Negative when cached steps
    /// took longer.
    pub saved_ns: Option<f64>,
}
