//! `pipelines`: what each pipeline of the run did.

use marey_analysis::Pipeline;
use serde::Serialize;

use super::calls::TimingStats;
use super::diffusion::FrameRateObject;
use super::durations::DurationsObject;
use super::models::ModelAnalysis;
use super::{Pairs, seconds};

/// One pipeline.
#[derive(Serialize)]
pub(super) struct PipelineObject<'a> {
    name: &'a str,
    calls: u64,
    failed: u64,
    cut_off: u64,
    total: f64,
    total_steps: u64,
    warm_up: Option<DurationsObject>,
    steady: Option<DurationsObject>,
    steps_per_second: Option<f64>,
    frame_rates: Vec<FrameRateObject<'a>>,
    model_analysis: Option<ModelAnalysis<'a>>,
    timing_stats: Pairs<&'a str, TimingStats>,
}

impl<'a> PipelineObject<'a> {
    pub(super) fn new(found: &'a Pipeline) -> Self {
        let sections = found.sections.iter();
        Self {
            name: &found.name,
            calls: found.n_calls,
            failed: found.n_failed,
            cut_off: found.n_cut_off,
            total: seconds(found.calls_ns),
            total_steps: found.n_steps,
            warm_up: DurationsObject::of(found.warm_up.as_ref()),
            steady: DurationsObject::of(found.steady.as_ref()),
            steps_per_second: found.steps_per_second,
            frame_rates: found.rates.iter().map(FrameRateObject::new).collect(),
            model_analysis: found.models.as_ref().map(ModelAnalysis::of),
            timing_stats: Pairs(
                sections
                    .map(|row| (row.name.as_str(), TimingStats::new(row)))
                    .collect(),
            ),
        }
    }
}
