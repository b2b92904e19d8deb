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
mod peak;
mod rates;
mod steps;
mod thread_spans;
mod turns;
mod work;

use marey::{Run, Thresholds};
use serde::Serialize;

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
use work::Work;

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
pub fn diffusion(run: &Run, limits: &Thresholds) -> Option<Diffusion> {
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
    let made = step_turns.map(|turns| MadeSteps::new(run, turns, blocks.as_ref(), &belonging));
    let block_points = blocks.as_ref().map_or(&[][..], |found| &found.each);
    let step_points = made.as_ref().map_or(&[][..], |made| &made.points);
    let work = Work::of(block_points, step_points);
    let playback = limits.playback_frames_per_second;
    let found = Diffusion {
        rates: rates::rates(run, &named, work.as_ref()),
        delivery: delivery::delivery(run, &belonging, playback),
        caching: caching::caching(step_points),
        guidance: guidance::guidance(run, &named, step_points),
        growth: made.as_ref().and_then(|made| made.growth(block_points)),
        clean_passes: clean_passes::clean_passes(run, &named, work.as_ref()),
        models: models::models(run, step_points),
        steps: made.map(MadeSteps::figures),
        blocks,
    };
    (found != Diffusion::default()).then_some(found)
}

/// Steps, and in which blocks they are.
struct MadeSteps {
    turns: Turns,
    points: Vec<StepPoint>,
    blocks_of: Vec<Option<usize>>,
}

impl MadeSteps {
    fn new(run: &Run, turns: Turns, blocks: Option<&Blocks>, belonging: &Belonging<'_>) -> Self {
        let (each, source) = blocks.map_or((&[][..], &StepSource::Reported), |blocks| {
            (&blocks.each[..], &blocks.source)
        });
        let blocks_of = steps::blocks_of(&turns, each, source);
        let mut points = steps::points(run, &turns, each, &blocks_of);
        caching::mark(&mut points, run, belonging);
        Self {
            turns,
            points,
            blocks_of,
        }
    }

    fn growth(&self, blocks: &[BlockPoint]) -> Option<ContextGrowth> {
        growth::growth(&self.points, blocks, &self.blocks_of)
    }

    fn figures(self) -> Steps {
        steps::steps(&self.turns, self.points)
    }
}

#[cfg(test)]
mod tests;
