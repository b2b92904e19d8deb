use serde::Serialize;

use super::durations::Durations;

/// Conditional against unconditional work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guidance {
    /// Steps with a guidance scale above 1.
    pub guided: Option<Durations>,
    /// Steps with a scale of at most 1, which need no unconditional pass.
    pub unguided: Option<Durations>,
    /// Sections that are named as conditional passes.
    pub conditional_ns: Option<u64>,
    /// Sections that are named as unconditional passes.
    pub unconditional_ns: Option<u64>,
    /// Unconditional share of both; `None` unless both are known.
    pub unconditional_ratio: Option<f64>,
}
