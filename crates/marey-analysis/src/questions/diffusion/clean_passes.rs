use serde::Serialize;

use super::durations::Durations;

/// Passes over clean frames that only fill the KV cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CleanPasses {
    /// Name of the sections, as the user gave it.
    pub name: String,
    /// How long they took.
    pub calls: Durations,
    /// Their share of the time of blocks, or of denoising where there are no blocks, 0 to 1; `None` when neither is known.
    pub share_ratio: Option<f64>,
}
