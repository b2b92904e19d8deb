//! How fast are steps, blocks and frames made, and what takes the time?

mod blocks;
mod caching;
mod clean_passes;
mod delivery;
mod durations;
mod enclosing;
mod growth;
mod guidance;
mod loops;
mod models;
mod named;
mod peak;
mod rates;
mod steps;
mod turns;

use marey::Run;
use serde::Serialize;

use crate::findings::Thresholds;
use crate::questions::belonging::Belonging;

pub use blocks::{BlockPoint, Blocks};
pub use caching::StepCaching;
pub use clean_passes::CleanPasses;
pub use delivery::{Delivery, DeliveryPoint};
pub use durations::{Durations, Spread};
pub use growth::ContextGrowth;
pub use guidance::Guidance;
pub use models::{Model, Models};
pub use peak::PeakFlops;
pub use rates::{FrameKind, FrameRate};
pub use steps::{StepPoint, Steps};
pub use turns::StepSource;

use named::Named;
use turns::{Kind, Turns};

/// What is known of a diffusion pipeline's own work. Parts are absent when the run says nothing of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
pub fn diffusion(run: &Run, _limits: &Thresholds) -> Option<Diffusion> {
    let named = Named::new(run);
    let belonging = Belonging::of_records(run);
    let turns = |kind: &Kind<'_>| turns::turns(run, &named, &belonging, kind);
    let block_turns = turns(&Kind {
        nodes: &named.blocks,
        said: blocks::said,
        numbers: &["block", "block_index", "index"],
    });
    let step_turns = turns(&Kind {
        nodes: &named.steps,
        said: steps::said,
        numbers: &["step", "step_index", "index"],
    });
    let blocks = block_turns.map(|turns| blocks::blocks(run, &turns));
    let steps = step_turns.map(|turns| made_steps(run, &turns, blocks.as_ref()));
    let block_points = blocks.as_ref().map_or(&[][..], |found| &found.each);
    let step_points = steps.as_ref().map_or(&[][..], |found| &found.each);
    let found = Diffusion {
        rates: rates::rates(run, &named, block_points, step_points),
        blocks,
        steps,
        ..Diffusion::default()
    };
    (found != Diffusion::default()).then_some(found)
}

fn made_steps(run: &Run, turns: &Turns, blocks: Option<&Blocks>) -> Steps {
    let (each, source) = blocks.map_or((&[][..], &StepSource::Reported), |blocks| {
        (&blocks.each[..], &blocks.source)
    });
    let blocks_of = steps::blocks_of(turns, each, source);
    let points = steps::points(run, turns, each, &blocks_of);
    steps::steps(turns, points)
}
