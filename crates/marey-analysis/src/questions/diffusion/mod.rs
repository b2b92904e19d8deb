//! How fast are steps, blocks and frames made, and what takes the time?

mod blocks;
mod caching;
mod calls;
mod clean_passes;
mod delivery;
mod durations;
mod enclosing;
mod growth;
mod guidance;
mod loops;
mod models;
mod named;
mod passes;
mod peak;
mod rates;
mod steps;
mod thread_spans;
mod work;

use marey::{Run, Thresholds};
use serde::Serialize;

use crate::questions::belonging::Belonging;
use crate::questions::pipelines::Pipelines;

pub use blocks::{BlockPoint, Blocks};
pub use caching::StepCaching;
pub use clean_passes::CleanPasses;
pub use delivery::{Delivery, DeliveryPoint};
pub use durations::{Durations, Spread};
pub use growth::ContextGrowth;
pub use guidance::{Guidance, GuidanceWay};
pub use models::{Model, Models};
pub use named::GeneratingNodes;
pub use passes::StepSource;
pub use peak::PeakFlops;
pub use rates::{FrameKind, FrameRate};
pub use steps::{StepPoint, Steps};

use named::Named;
use passes::Kind;
use work::Work;

/// What is known of a diffusion pipeline's own work. Parts are absent when the run says nothing of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Diffusion {
    /// Denoising steps.
    pub steps: Option<Steps>,
    /// Autoregressive blocks, or chunks of frames.
    pub blocks: Option<Blocks>,
    /// Frames a second, each rate with what it counts and what it includes; only rates that are known.
    pub rates: Vec<FrameRate>,
    /// Delivery to a viewer.
    pub delivery: Option<Delivery>,
    /// Steps that a cache answered against steps that were computed.
    pub caching: Option<StepCaching>,
    /// Conditional against unconditional work.
    pub guidance: Option<Guidance>,
    /// How step time grows with the length of the context.
    pub growth: Option<ContextGrowth>,
    /// Passes that only fill the KV cache with clean context.
    pub clean_passes: Option<CleanPasses>,
    /// Models, their size and what they compute.
    pub models: Option<Models>,
}

/// What a diffusion pipeline made; `None` when the run says nothing of that kind.
pub fn diffusion(run: &Run, limits: &Thresholds) -> Option<Diffusion> {
    let named = Named::new(&run.nodes);
    let belonging = Belonging::of_records(run);
    let pipelines = Pipelines::new(run, belonging.nesting());
    let passes = |kind: &Kind<'_>| passes::passes(run, &named, &belonging, kind);
    let block_passes = passes(&Kind {
        nodes: &named.blocks,
        between: &[],
        said: blocks::said,
        numbers: &["block", "block_index", "index"],
    });
    let between = [&named.text[..], &named.vae].concat();
    let step_passes = passes(&Kind {
        nodes: &named.steps,
        between: &between,
        said: steps::said,
        numbers: &["step", "step_index", "index"],
    });
    let blocks = block_passes.map(|passes| blocks::blocks(run, &passes));
    let block_points = blocks.as_ref().map_or(&[][..], |found| &found.each);
    let mut step_points = step_passes
        .as_ref()
        .map_or_else(Vec::new, |passes| steps::points(run, &pipelines, passes, blocks.as_ref()));
    caching::mark(&mut step_points, run, &belonging);
    let work = Work::of(block_points, &step_points);
    let playback = limits.playback_frames_per_second;
    let found = Diffusion {
        rates: rates::rates(run, &named, &belonging, work.as_ref(), (block_points, &step_points)),
        delivery: delivery::delivery(run, &belonging, playback),
        caching: caching::caching(&step_points),
        guidance: guidance::guidance(run, &named, &step_points),
        growth: growth::growth(&step_points, block_points),
        clean_passes: clean_passes::clean_passes(run, &named, work.as_ref()),
        models: models::models(run, &pipelines, &step_points),
        steps: step_passes.map(|passes| steps::steps(&passes, step_points)),
        blocks,
    };
    (found != Diffusion::default()).then_some(found)
}

#[cfg(test)]
mod tests;
