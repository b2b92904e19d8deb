//! `diffusion_analysis`: denoising steps, rates of frames, delivery, caches and guidance.

use marey_analysis::{
    CleanPasses, ContextGrowth, Delivery, DeliveryPoint, Diffusion, FrameKind, FrameRate, Guidance,
    GuidanceWay, StepCaching, StepPoint, Steps,
};
use serde::Serialize;

use super::durations::{BlockSizes, ComputationTimes, DurationsObject, SourceObject, milliseconds};
use super::figures::PERCENT;
use super::listed::{MAX_LISTED, listed};
use super::seconds;
use crate::model::Activity;

/// `diffusion_analysis` of the report.
#[derive(Serialize)]
pub(super) struct DiffusionAnalysis<'a> {
    total_steps: u64,
    steps: Vec<StepObject>,
    steps_left_out: u64,
    #[serde(flatten)]
    computation: ComputationTimes,
    avg_timestep: Option<f64>,
    min_timestep: Option<f64>,
    max_timestep: Option<f64>,
    #[serde(flatten)]
    sizes: BlockSizes,
    total_frames: Option<u64>,
    fps: Option<f64>,
    bps: Option<f64>,
    source: Option<SourceObject<'a>>,
    steps_not_recorded: u64,
    total_loops: u64,
    max_steps_per_loop: u64,
    warm_up: Option<DurationsObject>,
    steady: Option<DurationsObject>,
    gpu_warm_up: Option<DurationsObject>,
    gpu_steady: Option<DurationsObject>,
    outliers: Vec<usize>,
    frame_rates: Vec<FrameRateObject<'a>>,
    delivery: Option<DeliveryObject>,
    step_caching: Option<StepCachingObject>,
    guidance: Option<GuidanceObject>,
    context_growth: Option<ContextGrowthObject>,
    clean_passes: Option<CleanPassesObject<'a>>,
}

#[derive(Serialize)]
struct StepObject {
    timestamp: f64,
    step: u64,
    timestep: Option<f64>,
    block_size: Option<u64>,
    computation_time_ms: Option<f64>,
    guidance_scale: Option<f64>,
    #[serde(rename = "loop")]
    loop_number: u64,
    block_index: Option<u64>,
    cached: Option<bool>,
    gpu_time_ms: Option<f64>,
    passes: u64,
    warm_up: bool,
}

#[derive(Serialize)]
pub(super) struct FrameRateObject<'a> {
    frames: &'static str,
    count: u64,
    time_ms: f64,
    fps: f64,
    includes_text_encoding: Option<bool>,
    includes_vae_decoding: Option<bool>,
    meaning: &'a str,
}

#[derive(Serialize)]
struct DeliveryObject {
    playback_fps: f64,
    real_time_factor: Option<f64>,
    time_to_first_frame_ms: f64,
    between: Option<DurationsObject>,
    jitter_ms: Option<f64>,
    deadlines_met: u64,
    deadlines_missed: u64,
    stalled_ms: f64,
    frames_ahead_needed: u64,
    deliveries: Vec<DeliveryPointObject>,
    deliveries_left_out: u64,
}

#[derive(Serialize)]
struct DeliveryPointObject {
    timestamp: f64,
    frames: u64,
    deadline: Option<f64>,
    stalled_ms: f64,
}

#[derive(Serialize)]
struct StepCachingObject {
    cached_steps: u64,
    computed_steps: u64,
    cached: Option<DurationsObject>,
    computed: Option<DurationsObject>,
    time_saved_ms: Option<f64>,
}

#[derive(Serialize)]
struct GuidanceObject {
    guided: Option<DurationsObject>,
    unguided: Option<DurationsObject>,
    conditional_ms: Option<f64>,
    unconditional_ms: Option<f64>,
    unconditional_percent: Option<f64>,
    ways: Vec<GuidanceWayObject>,
}

#[derive(Serialize)]
struct GuidanceWayObject {
    how: String,
    calls_per_step: Option<u64>,
    batch_factor: Option<u64>,
    generations: u64,
}

#[derive(Serialize)]
struct ContextGrowthObject {
    blocks: u64,
    first_block_step_ms: f64,
    last_block_step_ms: f64,
    growth_per_block_ms: f64,
    growth_interval_ms: [f64; 2],
}

#[derive(Serialize)]
struct CleanPassesObject<'a> {
    name: &'a str,
    calls: DurationsObject,
    share_percent: Option<f64>,
}

impl<'a> DiffusionAnalysis<'a> {
    /// `None` when no steps, frames or passes are known: models and blocks have objects of their own.
    pub(super) fn new(activity: &'a Activity) -> Option<Self> {
        let found = activity.diffusion.as_ref()?;
        let says_something = found.steps.is_some()
            || !found.rates.is_empty()
            || found.delivery.is_some()
            || found.guidance.is_some()
            || found.clean_passes.is_some();
        says_something.then(|| Self::of(activity, found))
    }

    fn of(activity: &'a Activity, found: &'a Diffusion) -> Self {
        let steps = found.steps.as_ref();
        let timesteps = steps.and_then(|steps| steps.timesteps);
        let each = steps.map_or(&[][..], |steps| &steps.each);
        let (listed_steps, steps_left_out) = listed(each, |step| StepObject::new(activity, step));
        let count = |of: fn(&Steps) -> u64| steps.map_or(0, of);
        let durations = |of: fn(&Steps) -> Option<&marey_analysis::Durations>| {
            DurationsObject::of(steps.and_then(of))
        };
        Self {
            total_steps: count(|steps| steps.each.len() as u64),
            steps: listed_steps,
            steps_left_out,
            computation: ComputationTimes::new(steps.and_then(|steps| steps.all.as_ref())),
            avg_timestep: timesteps.map(|spread| spread.mean),
            min_timestep: timesteps.map(|spread| spread.min),
            max_timestep: timesteps.map(|spread| spread.max),
            sizes: BlockSizes::new(steps.and_then(|steps| steps.frames)),
            total_frames: steps.and_then(|steps| steps.total_frames),
            fps: steps.and_then(|steps| steps.frames_per_second),
            bps: steps.and_then(|steps| steps.loops_per_second),
            source: steps.map(|steps| SourceObject::new(&steps.source)),
            steps_not_recorded: count(|steps| steps.not_recorded),
            total_loops: count(|steps| steps.n_loops),
            max_steps_per_loop: count(|steps| steps.per_loop_max),
            warm_up: durations(|steps| steps.warm_up.as_ref()),
            steady: durations(|steps| steps.steady.as_ref()),
            gpu_warm_up: durations(|steps| steps.gpu_warm_up.as_ref()),
            gpu_steady: durations(|steps| steps.gpu_steady.as_ref()),
            outliers: steps.map(listed_outliers).unwrap_or_default(),
            frame_rates: found.rates.iter().map(FrameRateObject::new).collect(),
            delivery: found
                .delivery
                .as_ref()
                .map(|d| DeliveryObject::new(activity, d)),
            step_caching: found.caching.as_ref().map(StepCachingObject::new),
            guidance: found.guidance.as_ref().map(GuidanceObject::new),
            context_growth: found.growth.as_ref().map(ContextGrowthObject::new),
            clean_passes: found.clean_passes.as_ref().map(CleanPassesObject::new),
        }
    }
}

/// Outliers among the steps that are listed.
fn listed_outliers(steps: &Steps) -> Vec<usize> {
    let outliers = steps.outliers.iter().copied();
    outliers.filter(|step| *step < MAX_LISTED).collect()
}

/// A moment as seconds since 1970.
pub(super) fn timestamp(activity: &Activity, at_ns: u64) -> f64 {
    seconds(activity.start_unix_ns.saturating_add(at_ns))
}

impl StepObject {
    fn new(activity: &Activity, step: &StepPoint) -> Self {
        Self {
            timestamp: timestamp(activity, step.end_ns),
            step: step.step,
            timestep: step.timestep,
            block_size: step.frames,
            computation_time_ms: step.duration_ns.map(milliseconds),
            guidance_scale: step.guidance_scale,
            loop_number: step.loop_number,
            block_index: step.block,
            cached: step.is_cached,
            gpu_time_ms: step.gpu_ns.map(milliseconds),
            passes: step.n_passes,
            warm_up: step.is_warm_up,
        }
    }
}

impl<'a> FrameRateObject<'a> {
    pub(super) fn new(rate: &'a FrameRate) -> Self {
        Self {
            frames: match rate.kind {
                FrameKind::Latent => "latent",
                FrameKind::Pixel => "pixel",
            },
            count: rate.frames,
            time_ms: milliseconds(rate.over_ns),
            fps: rate.per_second,
            includes_text_encoding: rate.includes_text_encoding,
            includes_vae_decoding: rate.includes_vae,
            meaning: &rate.meaning,
        }
    }
}

impl DeliveryObject {
    fn new(activity: &Activity, found: &Delivery) -> Self {
        let point = |point: &DeliveryPoint| DeliveryPointObject {
            timestamp: timestamp(activity, point.at_ns),
            frames: point.frames,
            deadline: point.deadline_ns.map(|at_ns| timestamp(activity, at_ns)),
            stalled_ms: milliseconds(point.stalled_ns),
        };
        let (deliveries, deliveries_left_out) = listed(&found.each, point);
        Self {
            playback_fps: found.playback_per_second,
            real_time_factor: found.real_time_factor,
            time_to_first_frame_ms: milliseconds(found.time_to_first_ns),
            between: DurationsObject::of(found.between.as_ref()),
            jitter_ms: found.jitter_ns.map(|ns| ns / 1e6),
            deadlines_met: found.deadlines_met,
            deadlines_missed: found.deadlines_missed,
            stalled_ms: milliseconds(found.stalled_ns),
            frames_ahead_needed: found.frames_ahead_needed,
            deliveries,
            deliveries_left_out,
        }
    }
}

impl StepCachingObject {
    fn new(found: &StepCaching) -> Self {
        Self {
            cached_steps: found.n_cached,
            computed_steps: found.n_computed,
            cached: DurationsObject::of(found.cached.as_ref()),
            computed: DurationsObject::of(found.computed.as_ref()),
            time_saved_ms: found.saved_ns.map(|ns| ns / 1e6),
        }
    }
}

fn way(found: &GuidanceWay) -> GuidanceWayObject {
    GuidanceWayObject {
        how: found.how.clone(),
        calls_per_step: found.calls_per_step,
        batch_factor: found.batch_factor,
        generations: found.n_generations,
    }
}

impl GuidanceObject {
    fn new(found: &Guidance) -> Self {
        Self {
            guided: DurationsObject::of(found.guided.as_ref()),
            unguided: DurationsObject::of(found.unguided.as_ref()),
            conditional_ms: found.conditional_ns.map(milliseconds),
            unconditional_ms: found.unconditional_ns.map(milliseconds),
            unconditional_percent: found.unconditional_ratio.map(|ratio| ratio * PERCENT),
            ways: found.ways.iter().map(way).collect(),
        }
    }
}

impl ContextGrowthObject {
    fn new(found: &ContextGrowth) -> Self {
        Self {
            blocks: found.n_blocks,
            first_block_step_ms: found.first_ns / 1e6,
            last_block_step_ms: found.last_ns / 1e6,
            growth_per_block_ms: found.per_block_ns / 1e6,
            growth_interval_ms: found.interval_ns.map(|ns| ns / 1e6),
        }
    }
}

impl<'a> CleanPassesObject<'a> {
    fn new(found: &'a CleanPasses) -> Self {
        Self {
            name: &found.name,
            calls: DurationsObject::new(&found.calls),
            share_percent: found.share_ratio.map(|ratio| ratio * PERCENT),
        }
    }
}
