use serde::Serialize;

/// A straight line through step times over the context that they had.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContextGrowth {
    /// Blocks that it is made of.
    pub n_blocks: u64,
    /// Median step of the first steady block.
    pub first_ns: f64,
    /// Median step of the last block.
    pub last_ns: f64,
    /// Growth of a step with each block more of context (median of the slopes of all pairs of blocks).
    pub per_block_ns: f64,
}
