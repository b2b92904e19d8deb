//! Did the samplers keep their times, and what did they cost?

use serde::Serialize;

use super::sampled::Sampled;
use crate::readings::{Figures, Growth};

/// One sampler.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct SamplerUse {
    /// What it samples: `host`, `gpu`.
    pub name: String,
    /// How late its rounds began, in seconds.
    pub late_s: Option<Figures>,
    /// Rounds that it left out because it was late.
    pub missed: Option<f64>,
    /// Processor time of its thread, in seconds; in a second it is the share of one core.
    pub cpu: Option<Growth>,
}

pub(super) fn samplers(sampled: &Sampled<'_>) -> Vec<SamplerUse> {
    let names = ["sampler.late", "sampler.missed", "sampler.cpu"];
    let mut samplers: Vec<&str> = names.iter().flat_map(|n| sampled.subjects(n)).collect();
    samplers.sort_unstable();
    samplers.dedup();
    let [late, missed, cpu] = names;
    samplers
        .into_iter()
        .map(|name| SamplerUse {
            name: name.to_owned(),
            late_s: sampled.gauge(late, name),
            missed: sampled.growth(missed, name).map(|growth| growth.total),
            cpu: sampled.growth(cpu, name),
        })
        .collect()
}
