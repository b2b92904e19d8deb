//! How fast are steps, blocks and frames made, and what takes the time?

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
mod outliers;
mod passes;
mod peak;
mod rates;
mod steps;
mod work;

use marey::{Run, Thresholds};
use serde::Serialize;

use crate::questions::pipelines::Pipelines;
use crate::questions::session_assignment::SessionAssignment;

pub use caching::StepCaching;
pub use clean_passes::CleanPasses;
pub use delivery::{Delivery, DeliveryPoint};
pub use durations::{Durations, Spread};
pub use growth::ContextGrowth;
pub use guidance::{Guidance, GuidanceWay};
pub use models::{Model, Models};
pub use named::Named;
pub use passes::StepSource;
pub use peak::PeakFlops;
pub use rates::{FrameKind, FrameRate};
pub use steps::{StepPoint, Steps};

use passes::{Made, Passes};
use work::Work;

/// What is known of a diffusion pipeline's own work. Parts are absent when the run says nothing of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Diffusion {
    /// Denoising steps.
    pub steps: Option<Steps>,
    /// Autoregressive blocks, or chunks of frames.
    pub blocks: Option<Steps>,
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
    let assignment = SessionAssignment::new(run);
    let pipelines = Pipelines::new(run, assignment.nesting());
    let found = |made, blocks: &[StepPoint]| {
        let mut passes = Passes::of(run, &named, &assignment, made)?;
        let mut each = passes.joined(made, blocks, &pipelines);
        if made == Made::Steps {
            caching::mark(&mut each, run, &assignment);
        }
        Some(Steps::of(run, passes, made, each))
    };
    let blocks = found(Made::Blocks, &[]);
    let each_block = blocks.as_ref().map_or(&[][..], |found| &found.each);
    let steps = found(Made::Steps, each_block);
    let each_step = steps.as_ref().map_or(&[][..], |found| &found.each);
    let work = Work::of_frames(each_block, each_step);
    let found = Diffusion {
        rates: rates::rates(run, &named, &assignment, work.as_ref(), (each_block, each_step)),
        delivery: delivery::delivery(run, &assignment, limits.playback_frames_per_second),
        caching: caching::caching(each_step),
        guidance: guidance::guidance(run, &named, each_step),
        growth: growth::growth(each_step, each_block),
        clean_passes: clean_passes::clean_passes(run, &named, work.as_ref()),
        models: models::models(run, &pipelines, each_step),
        steps,
        blocks,
    };
    (found != Diffusion::default()).then_some(found)
}

#[cfg(test)]
mod tests;
