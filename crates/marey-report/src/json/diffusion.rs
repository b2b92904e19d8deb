//! Denoising steps, rates of frames, delivery, caches and guidance; blocks of frames; and frames that were streamed.

use marey_analysis::{
    Delivery, Diffusion, Durations, FrameKind, FrameRate, Guidance, StepPoint, Steps,
};

use super::figures::{
    MAX_LISTED, MIB, PERCENT, block_sizes, computation_times, durations, listed, milliseconds,
    source, timestamp,
};
use super::object::{Fields, Json, object};
use super::{list, mebibytes, seconds};
use crate::model::Activity;

/// `diffusion_analysis`; `None` when no steps, frames or passes are known: models and blocks have objects of their own.
pub(super) fn diffusion_analysis(activity: &Activity) -> Option<impl Json> {
    let found = activity.diffusion.as_ref()?;
    let says_something = found.steps.is_some()
        || !found.rates.is_empty()
        || found.delivery.is_some()
        || found.guidance.is_some()
        || found.clean_passes.is_some();
    says_something.then(|| {
        object! {
            /// Denoising steps, and what they come to.
            struct DiffusionAnalysis;
            ..steps(activity, found.steps.as_ref()),
            ..costs(activity, found),
        }
    })
}

fn steps<'a>(activity: &'a Activity, found: Option<&'a Steps>) -> impl Fields + use<'a> {
    let timesteps = found.and_then(|steps| steps.timesteps);
    let each = found.map_or(&[][..], |steps| &steps.each);
    let (steps, steps_left_out) = listed(each, |one| step(activity, one));
    let count = |of: fn(&Steps) -> u64| found.map_or(0, of);
    let times = |of: fn(&Steps) -> Option<&Durations>| durations(found.and_then(of));
    // Of those that are listed.
    let outliers = found.into_iter().flat_map(|steps| &steps.outliers);
    let outliers = outliers.copied().filter(|step| *step < MAX_LISTED);
    object! {
        /// Steps that are known one by one.
        total_steps: each.len(),
        /// Each one, in order of time; the first 10000.
        steps: steps,
        /// Steps beyond those that are listed; they are in all other figures.
        steps_left_out: steps_left_out,
        ..computation_times(found.and_then(|steps| steps.all.as_ref())),
        /// Mean time step; null when none was said.
        avg_timestep: timesteps.map(|spread| spread.mean),
        /// Lowest.
        min_timestep: timesteps.map(|spread| spread.min),
        /// Highest.
        max_timestep: timesteps.map(|spread| spread.max),
        ..block_sizes(found.and_then(|steps| steps.frames)),
        /// Latent frames of all loops that said, those of a loop once; null when none did.
        total_frames: found.and_then(|steps| steps.total_frames),
        /// Latent frames, those of a loop once, in a second of its steps.
        fps: found.and_then(|steps| steps.frames_per_second),
        /// Loops (blocks, where each has one) in a second of their steps.
        bps: found.and_then(|steps| steps.loops_per_second),
        /// Where steps are known from; null without steps.
        source: found.map(|steps| source(&steps.source)),
        /// Steps that were counted but not recorded one by one: they are in no other figure.
        steps_not_recorded: count(|steps| steps.not_recorded),
        /// Generations, or blocks of one, that the steps were made for.
        total_loops: count(|steps| steps.n_loops),
        /// Most steps of one loop.
        max_steps_per_loop: count(|steps| steps.per_loop_max),
        /// The first step of each pipeline, apart from the rest; null when no duration of one is known.
        warm_up: times(|steps| steps.warm_up.as_ref()),
        /// All other steps.
        steady: times(|steps| steps.steady.as_ref()),
        /// Their time on the GPU; null when it was not measured.
        gpu_warm_up: times(|steps| steps.gpu_warm_up.as_ref()),
        /// All other steps' time on the GPU, of those that were measured.
        gpu_steady: times(|steps| steps.gpu_steady.as_ref()),
        /// Steady steps that took much longer than the others, as indices into all steps, the longest first; those of listed steps only.
        outliers: outliers.collect::<Vec<_>>(),
    }
}

fn step(activity: &Activity, found: &StepPoint) -> impl Json + use<> {
    object! {
        /// When it ended, seconds since 1970.
        timestamp: timestamp(activity, found.end_ns),
        /// Number in its loop, as reported, otherwise counted from 0.
        step: found.step,
        /// Time step of the schedule, in the program's own scale.
        timestep: found.timestep,
        /// Latent frames that it worked on.
        block_size: found.frames,
        /// How long it took; null when not known.
        computation_time_ms: found.duration_ns.map(milliseconds),
        /// Scale of the guidance.
        guidance_scale: found.guidance_scale,
        /// The loop: a generation, or a block of one; from 0.
        loop: found.loop_number,
        /// Number of the block that it is in; null without blocks, or when that block had not ended.
        block_index: found.block,
        /// A cache answered, or was asked in vain; null when no cache said anything of it.
        cached: found.is_cached,
        /// Time on the GPU between the events at both ends of its section; null when not measured.
        gpu_time_ms: found.gpu_ns.map(milliseconds),
        /// Passes of the network in it that were reported or recorded one by one; computation_time_ms is that of all of them.
        passes: found.n_passes,
        /// It is the first one.
        warm_up: found.is_warm_up,
    }
}

fn costs<'a>(activity: &'a Activity, found: &'a Diffusion) -> impl Fields + use<'a> {
    object! {
        frame_rates: list(&found.rates, frame_rate),
        /// null when nothing was delivered.
        delivery: found.delivery.as_ref().map(|found| delivery(activity, found)),
        /// null when no cache said anything of a step.
        step_caching: found.caching.as_ref().map(|found| object! {
            /// How many a cache answered.
            cached_steps: found.n_cached,
            /// How many were computed, the first one too.
            computed_steps: found.n_computed,
            /// Steps that a cache answered.
            cached: durations(found.cached.as_ref()),
            /// Computed steps without the first one.
            computed: durations(found.computed.as_ref()),
            /// Median computed step less median cached step, times cached_steps; below 0 when cached steps took longer; null when either is
            /// not known.
            time_saved_ms: found.saved_ns.map(|ns| ns / 1e6),
        }),
        /// null when nothing is known of it.
        guidance: found.guidance.as_ref().map(guidance),
        /// null where the interval of the growth holds 0, or blocks are too few for one: it takes five of one generation after the warm-up.
        context_growth: found.growth.as_ref().map(|found| object! {
            /// Blocks that it is made of.
            blocks: found.n_blocks,
            /// Median computed step of the first block after the warm-up, of the longest generation.
            first_block_step_ms: found.first_ns / 1e6,
            /// Median computed step of its last block.
            last_block_step_ms: found.last_ns / 1e6,
            /// Growth of a step with each block (median of the slopes of all pairs of blocks of a generation).
            growth_per_block_ms: found.per_block_ns / 1e6,
            /// Both ends of its interval, 95 %.
            growth_interval_ms: found.interval_ns.map(|ns| ns / 1e6),
        }),
        /// null when there are none.
        clean_passes: found.clean_passes.as_ref().map(|found| object! {
            /// Their section, as the user named it; the first of such names where there are several.
            name: &found.name,
            calls: durations(Some(&found.calls)),
            /// Their share of the time of blocks, or of denoising steps; null when neither is known.
            share_percent: found.share_ratio.map(|ratio| ratio * PERCENT),
        }),
    }
}

pub(super) fn frame_rate(rate: &FrameRate) -> impl Json {
    object! {
        /// A rate of frames.
        struct FrameRate;
        /// Which frames: `latent` or `pixel`.
        frames: match rate.kind {
            FrameKind::Latent => "latent",
            FrameKind::Pixel => "pixel",
        },
        /// Frames that were counted, each once.
        count: rate.frames,
        /// The time that they are divided by.
        time_ms: milliseconds(rate.over_ns),
        /// count in a second of it.
        fps: rate.per_second,
        /// The time holds text encoding; null when none was recorded, or not each call of it.
        includes_text_encoding: rate.includes_text_encoding,
        /// The time holds VAE decoding; null likewise.
        includes_vae_decoding: rate.includes_vae,
        /// All of it in words.
        meaning: &rate.meaning,
    }
}

fn delivery<'a>(activity: &'a Activity, found: &'a Delivery) -> impl Json + use<'a> {
    let (deliveries, deliveries_left_out) = listed(&found.each, |point| {
        object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, point.at_ns),
            /// How many.
            frames: point.frames,
            /// When the viewer had played all before, seconds since 1970; null for the first.
            deadline: point.deadline_ns.map(|at_ns| timestamp(activity, at_ns)),
            /// How long it stood still before this one.
            stalled_ms: milliseconds(point.stalled_ns),
        }
    });
    object! {
        /// Frames in a second at which the viewer plays.
        playback_fps: found.playback_per_second,
        /// Played time of the frames after the first delivery, over the time from the first to the last; above 1 is faster than real time.
        /// null unless two deliveries lie apart.
        real_time_factor: found.real_time_factor,
        /// To the first delivery, from the start of its outermost session, or of the run where it is of none.
        time_to_first_frame_ms: milliseconds(found.time_to_first_ns),
        /// Times between neighbouring deliveries; null when there is none.
        between: durations(found.between.as_ref()),
        /// Mean of the absolute differences of neighbouring times between.
        jitter_ms: found.jitter_ns.map(|ns| ns / 1e6),
        /// Deliveries after the first that came before the viewer had played all before them.
        deadlines_met: found.deadlines_met,
        /// Deliveries after the first that came too late; each is an underrun.
        deadlines_missed: found.deadlines_missed,
        /// Time that the viewer stood still.
        stalled_ms: milliseconds(found.stalled_ns),
        /// Frames that the viewer would have to hold before it begins, to never stand still.
        frames_ahead_needed: found.frames_ahead_needed,
        /// Each one, in order of time; the first 10000.
        deliveries: deliveries,
        /// Deliveries beyond those that are listed; they are in all other figures.
        deliveries_left_out: deliveries_left_out,
    }
}

fn guidance(found: &Guidance) -> impl Json {
    object! {
        /// Steps with a scale above 1, without the first step.
        guided: durations(found.guided.as_ref()),
        /// Steps with a scale of at most 1, likewise.
        unguided: durations(found.unguided.as_ref()),
        /// Time of sections that are named as conditional passes.
        conditional_ms: found.conditional_ns.map(milliseconds),
        /// Time of sections that are named as unconditional passes.
        unconditional_ms: found.unconditional_ns.map(milliseconds),
        /// Their share of both.
        unconditional_percent: found.unconditional_ratio.map(|ratio| ratio * PERCENT),
        /// How it was computed, as instrumented pipelines say (event guidance).
        ways: list(&found.ways, |way| object! {
            /// In words.
            how: &way.how,
            /// Calls of the network for an evaluation.
            calls_per_step: way.calls_per_step,
            /// How many times the batch of the latents the largest of these calls got; null when not known.
            batch_factor: way.batch_factor,
            /// Generations that said so.
            generations: way.n_generations,
        }),
    }
}

/// `block_analysis`; `None` when there are no blocks.
pub(super) fn block_analysis(activity: &Activity) -> Option<impl Json> {
    let found = activity.diffusion.as_ref()?.blocks.as_ref()?;
    let memory = found.memory_bytes;
    let (blocks, blocks_left_out) = listed(&found.each, |block| {
        object! {
            /// When it ended, seconds since 1970.
            timestamp: timestamp(activity, block.end_ns),
            /// Its number, as reported, otherwise counted.
            block_index: block.step,
            /// Latent frames in it.
            block_size: block.frames,
            /// How long it took; null when not known.
            computation_time_ms: block.duration_ns.map(milliseconds),
            /// Memory in use, as the program read it, MiB.
            memory_usage_mb: block.memory_bytes.map(mebibytes),
            /// The generation that it is of, from 0.
            generation: block.loop_number,
        }
    });
    Some(object! {
        /// Autoregressive blocks of frames.
        struct BlockAnalysis;
        /// Blocks that are known one by one.
        total_blocks: found.each.len(),
        /// Each one, in order of time; the first 10000.
        blocks: blocks,
        /// Blocks beyond those that are listed; they are in all other figures.
        blocks_left_out: blocks_left_out,
        ..computation_times(found.all.as_ref()),
        ..block_sizes(found.frames),
        /// Latent frames of all blocks that said; null when none did.
        total_frames: found.total_frames,
        /// Mean of the blocks that said it, MiB.
        avg_memory_usage_mb: memory.map(|bytes| bytes.mean * MIB),
        /// Highest.
        peak_memory_usage_mb: memory.map(|bytes| bytes.max * MIB),
        /// Lowest.
        min_memory_usage_mb: memory.map(|bytes| bytes.min * MIB),
        /// Latent frames in a second of the blocks' time.
        fps: found.frames_per_second,
        /// Blocks in a second of their time.
        bps: found.loops_per_second,
        source: source(&found.source),
        /// Blocks that were counted but not recorded one by one: they are in no other figure.
        blocks_not_recorded: found.not_recorded,
        /// The first block.
        warm_up: durations(found.warm_up.as_ref()),
        /// All other blocks.
        steady: durations(found.steady.as_ref()),
        /// To the end of the first block, from the start of its outermost session, or of the run where it is of none.
        time_to_first_block_ms: found.time_to_first_ns.map(milliseconds),
        /// Times between the ends of neighbouring blocks of a generation; null when there is none.
        between: durations(found.between.as_ref()),
        /// Mean of the absolute differences of neighbouring times between.
        jitter_ms: found.jitter_ns.map(|ns| ns / 1e6),
    })
}

/// `streaming_analysis`; `None` when nothing was delivered or dropped.
pub(super) fn streaming_analysis(activity: &Activity) -> Option<impl Json> {
    let found = activity.streaming.as_ref()?;
    let (events, events_left_out) = listed(&found.each, |(at_ns, delivered)| {
        object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, *at_ns),
            /// Frames; null when not said.
            batch_size: delivered.frames,
            /// Time to encode them; null when not said.
            encoding_time_ms: delivered.encoding_ns.map(milliseconds),
            /// Time on the network; null when not said.
            network_latency_ms: delivered.network_latency_ns.map(milliseconds),
            /// Fill of the viewer's buffer in the program's own scale; null when not said.
            buffer_occupancy: delivered.buffer_occupancy,
        }
    });
    let (drops, drops_left_out) = listed(&found.drops, |(at_ns, frames)| {
        object! {
            /// When, seconds since 1970.
            timestamp: timestamp(activity, *at_ns),
            /// Frames.
            count: *frames,
        }
    });
    Some(object! {
        /// Frames that were delivered.
        struct StreamingAnalysis;
        /// Deliveries.
        total_streaming_events: found.n_events,
        /// Frames delivered; null when no delivery said how many.
        total_frames_streamed: found.frames,
        /// Frames that the program reported as dropped.
        total_dropped_frames: found.dropped_frames,
        /// Frames delivered after the first delivery, in a second of delivery_time; null unless two deliveries lie apart.
        current_fps: found.frames_per_second,
        /// From the first delivery to the last, seconds.
        delivery_time: seconds(found.delivery_ns),
        /// Mean of the deliveries that said it.
        avg_encoding_time_ms: found.encoding_mean_ns.map(|ns| ns / 1e6),
        /// Mean of the deliveries that said it.
        avg_network_latency_ms: found.latency_mean_ns.map(|ns| ns / 1e6),
        /// Dropped frames over delivered and dropped ones.
        drop_rate_percent: found.drop_ratio.map(|ratio| ratio * PERCENT),
        /// Fill of the viewer's buffer in the program's own scale; null when no delivery said.
        buffer_occupancy: found.buffer.map(|fill| object! {
            /// Lowest.
            min: fill.min,
            /// Mean of the deliveries.
            avg: fill.mean,
            /// Highest.
            max: fill.max,
            /// At the last one.
            last: fill.last,
        }),
        /// Each delivery as the program reported it, in order of time, at most 10000.
        events: events,
        /// Deliveries beyond those.
        events_left_out: events_left_out,
        /// Each report of dropped frames, in order of time, at most 10000.
        drops: drops,
        /// Reports beyond those.
        drops_left_out: drops_left_out,
    })
}
