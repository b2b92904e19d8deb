//! Machines of a job, as values.

use serde::Serialize;

use crate::job::{GpuSums, MachineSums, Range};

/// Machines and GPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Resources {
    /// GPUs by UUID, each once however many ranks used it; those without a UUID by rank.
    pub gpus: Vec<RankGpu>,
    /// Memory in use of all GPUs: lowest, mean of the means, highest, bytes; `None` when none was read, as all below.
    pub gpu_memory_bytes: Option<Range>,
    /// Utilisation of all GPUs: of their means lowest, mean, highest.
    pub gpu_utilization_ratio: Option<Range>,
    /// Power of all GPUs together, on average, watts; `None` also when one of them was not read.
    pub power_watts: Option<f64>,
    /// Energy of all GPUs, joules; likewise.
    pub energy_joules: Option<f64>,
    /// Each rank's own use, by place.
    pub ranks: Vec<RankResources>,
}

/// A GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankGpu {
    /// Ranks that read it.
    pub places: Vec<u32>,
    /// Its host.
    pub host: String,
    /// What was read; of several ranks, the one that ran longest.
    pub gpu: GpuSums,
}

/// Use of one rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankResources {
    /// Its place.
    pub place: u32,
    /// What was read.
    pub machine: MachineSums,
}
