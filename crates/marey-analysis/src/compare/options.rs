//! What a comparison takes as a change.

/// Limits of a comparison. The defaults are those of the command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompareOptions {
    /// Changes of time below this share of the baseline are the same, however certain they are: 0.03. Two single runs of one
    /// program differ by about 1 % for reasons that neither of them shows (memory layout, clocks, neighbours); a smaller
    /// floor is for repeats.
    pub min_change_ratio: f64,
    /// The same where both sides have repeats, which do show how runs differ: 0.02.
    pub min_repeated_change_ratio: f64,
    /// Chance of one or more false alarms in a whole comparison, as far as it is made of tests: 0.05.
    pub alpha: f64,
    /// Sections and loops below this share of the wall time on both sides are not tested: 0.01. They cannot make a run
    /// slower by more than that, and each test costs all others some power.
    pub min_share_ratio: f64,
    /// Resamples for intervals: 1000.
    pub n_resamples: u32,
    /// Where random numbers begin; the same seed gives the same answer to the last digit.
    pub seed: u64,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            min_change_ratio: 0.03,
            min_repeated_change_ratio: 0.02,
            alpha: 0.05,
            min_share_ratio: 0.01,
            n_resamples: 1000,
            seed: 0x6d61_7265,
        }
    }
}
