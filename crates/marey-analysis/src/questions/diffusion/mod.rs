//! How fast are steps, blocks and frames made, and what takes the time?

use marey::Run;
use serde::Serialize;

use crate::findings::Thresholds;

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

/// Where steps are known from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepSource {
    /// The program reported them.
    Reported,
    /// The turns of this loop, as the user named it.
    Iterations(String),
    /// The calls of this section, as the user named it.
    Sections(String),
}

/// Denoising steps. A generation begins where the number of the step does not go on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Steps {
    /// Where they are known from.
    pub source: StepSource,
    /// Generations, or blocks of one, that they were made for.
    pub n_loops: u64,
    /// Most steps of one loop.
    pub per_loop_max: u64,
    /// Steps of the first loop's beginning, apart from the rest: the first one.
    pub warm_up: Durations,
    /// All other steps; `None` when there is only one.
    pub steady: Option<Durations>,
    /// Sum of the durations of all steps whose duration is known.
    pub total_ns: u64,
    /// Each step, in order of time.
    pub each: Vec<StepPoint>,
    /// Steady steps that took much longer than the others, as indices into `each`: longer than the median by more than five times the
    /// median absolute deviation, and by more than a tenth.
    pub outliers: Vec<usize>,
    /// Lowest and highest time step; `None` when no step said.
    pub timesteps: Option<(f64, f64)>,
    /// Lowest, mean and highest number of latent frames that a step worked on; `None` when no step said.
    pub frames: Option<Spread>,
}

/// One denoising step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepPoint {
    /// When it ended, since the start of the run.
    pub end_ns: u64,
    /// How long it took; `None` when not known.
    pub duration_ns: Option<u64>,
    /// Number in its loop, from 0, as reported, otherwise counted.
    pub step: u64,
    /// The loop: a generation, or a block of one; from 0.
    pub loop_number: u64,
    /// Number of the block that it belongs to; `None` when the run has no blocks.
    pub block: Option<u64>,
    /// Time step of the schedule.
    pub timestep: Option<f64>,
    /// Latent frames that it worked on.
    pub frames: Option<u64>,
    /// Scale of the guidance.
    pub guidance_scale: Option<f64>,
    /// A cache answered (`true`) or was asked in vain (`false`); `None` when no cache said anything of it.
    pub is_cached: Option<bool>,
    /// It is part of the warm-up.
    pub is_warm_up: bool,
}

/// Figures of durations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Durations {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// Shortest.
    pub min_ns: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Longest.
    pub max_ns: u64,
    /// Nearest rank: half took no longer.
    pub p50_ns: u64,
    /// 95 % took no longer.
    pub p95_ns: u64,
    /// 99 % took no longer.
    pub p99_ns: u64,
    /// Sample standard deviation; `None` for fewer than two.
    pub std_dev_ns: Option<f64>,
}

/// Lowest, mean and highest.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Lowest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Highest.
    pub max: f64,
}

/// Blocks of frames.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocks {
    /// Where they are known from.
    pub source: StepSource,
    /// The first block, which often includes loading and compilation.
    pub warm_up: Durations,
    /// All other blocks; `None` when there is only one.
    pub steady: Option<Durations>,
    /// Blocks in a second of the time that blocks took; `None` when that is not known.
    pub per_second: Option<f64>,
    /// Each block, in order of time.
    pub each: Vec<BlockPoint>,
    /// Latent frames of a block; `None` when no block said.
    pub frames: Option<Spread>,
    /// Memory that the program said was in use, bytes; `None` when no block said.
    pub memory_bytes: Option<Spread>,
    /// From the start of the session or the run to the end of its first block; with several sessions, of the first one that has blocks.
    pub time_to_first_ns: Option<u64>,
    /// Time between the ends of neighbouring blocks of one session, the first block apart; `None` with fewer than three blocks.
    pub between: Option<Durations>,
    /// Mean of the absolute differences of neighbouring times between; `None` with fewer than two of them.
    pub jitter_ns: Option<f64>,
}

/// One block.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BlockPoint {
    /// When it ended.
    pub end_ns: u64,
    /// How long it took; `None` when not known.
    pub duration_ns: Option<u64>,
    /// Its number, as reported, otherwise counted.
    pub index: u64,
    /// Latent frames in it.
    pub frames: Option<u64>,
    /// Memory in use, as the program read it.
    pub memory_bytes: Option<u64>,
    /// Index into `Run::sessions`.
    pub session: Option<u32>,
}

/// Which frames a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// Frames of the latent video.
    Latent,
    /// Frames of pixels, as they were delivered.
    Pixel,
}

/// Frames a second, and what that means.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrameRate {
    /// Which frames.
    pub kind: FrameKind,
    /// Frames that were counted, each once.
    pub frames: u64,
    /// The time that they are divided by.
    pub over_ns: u64,
    /// `frames` in a second of it.
    pub per_second: f64,
    /// The time holds text encoding; `None` when no text encoding was recorded.
    pub includes_text_encoding: Option<bool>,
    /// The time holds VAE decoding; `None` when none was recorded.
    pub includes_vae: Option<bool>,
    /// All of it in words: "latent frames a second of denoising, without text encoding and VAE decoding".
    pub meaning: String,
}

/// Delivery of frames to a viewer who plays them at a fixed rate from the first delivery on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delivery {
    /// Frames in a second at which the viewer plays.
    pub playback_per_second: f64,
    /// Delivered frames, as played time, over the time that their making took; above 1 is faster than real time.
    pub real_time_factor: Option<f64>,
    /// From the start of the session or the run to the first delivery.
    pub time_to_first_ns: u64,
    /// Time between neighbouring deliveries; `None` with fewer than two.
    pub between: Option<Durations>,
    /// Mean of the absolute differences of neighbouring times between; `None` with fewer than three deliveries.
    pub jitter_ns: Option<f64>,
    /// Each delivery, in order of time.
    pub each: Vec<DeliveryPoint>,
    /// Deliveries after the first that came before the viewer ran out.
    pub deadlines_met: u64,
    /// Deliveries after the first that came too late.
    pub deadlines_missed: u64,
    /// Time that the viewer stood still for lack of frames.
    pub stalled_ns: u64,
    /// Frames that the viewer would have to hold before it begins, to never stand still.
    pub frames_ahead_needed: u64,
}

/// One delivery.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeliveryPoint {
    /// When.
    pub at_ns: u64,
    /// Frames.
    pub frames: u64,
    /// When the viewer had played all frames that came before; `None` for the first delivery.
    pub deadline_ns: Option<u64>,
    /// How long the viewer stood still before it.
    pub stalled_ns: u64,
}

/// What caches did for steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepCaching {
    /// Steps that a cache answered.
    pub cached: Option<Durations>,
    /// Steps of which a cache was asked in vain, or not at all, warm-up apart.
    pub computed: Option<Durations>,
    /// How many steps a cache answered.
    pub n_cached: u64,
    /// How many were computed, warm-up included.
    pub n_computed: u64,
    /// Median computed step less median cached step, times the cached steps; `None` when either is not known. Negative when cached steps
    /// took longer.
    pub saved_ns: Option<f64>,
}

/// Conditional against unconditional work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guidance {
    /// Steps with a guidance scale above 1.
    pub guided: Option<Durations>,
    /// Steps with a scale of at most 1, which need no unconditional pass.
    pub unguided: Option<Durations>,
    /// Sections that are named as conditional passes.
    pub conditional_ns: Option<u64>,
    /// Sections that are named as unconditional passes.
    pub unconditional_ns: Option<u64>,
    /// Unconditional share of both; `None` unless both are known.
    pub unconditional_ratio: Option<f64>,
}

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

/// Passes over clean frames that only fill the KV cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CleanPasses {
    /// Name of the sections, as the user gave it.
    pub name: String,
    /// How long they took.
    pub calls: Durations,
    /// Their share of the time of blocks, or of denoising where there are no blocks, 0 to 1; `None` when neither is known.
    pub share_ratio: Option<f64>,
}

/// Models.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Models {
    /// Each model that the program named, in the order of their first reports; the last report counts.
    pub each: Vec<Model>,
    /// Parameters of all models whose number is known; `None` when none is.
    pub parameters: Option<u64>,
}

/// One model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Model {
    /// As the user gave it.
    pub name: String,
    /// What it is: `transformer`, `vae`.
    pub kind: Option<String>,
    /// Number of its parameters.
    pub parameters: Option<u64>,
    /// Floating point operations of one pass, as the program said.
    pub flops_per_call: Option<f64>,
    /// Operations in a second, over the median steady step with as many passes as the program said; `None` unless all is known.
    pub achieved_flops_per_second: Option<f64>,
    /// What the device can do in a second, with where that is from.
    pub peak: Option<PeakFlops>,
    /// Achieved over peak: model FLOPs utilisation.
    pub utilization_ratio: Option<f64>,
}

/// What a device can do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PeakFlops {
    /// Operations in a second.
    pub flops_per_second: f64,
    /// The device and the number format: "NVIDIA H200, dense BF16".
    pub of: String,
}

/// What a diffusion pipeline made; `None` when the run says nothing of that kind.
pub fn diffusion(_run: &Run, _limits: &Thresholds) -> Option<Diffusion> {
    None
}
