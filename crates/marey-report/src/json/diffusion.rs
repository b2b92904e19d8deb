//! `diffusion_analysis`: denoising steps, rates of frames, delivery, caches and guidance.

use marey_analysis::{
    Delivery, Diffusion, Durations, FrameKind, FrameRate, Guidance, StepPoint, Steps,
};
use serde::Serialize;

use super::figures::{
    MAX_LISTED, PERCENT, block_sizes, computation_times, durations, listed, milliseconds, source,
    timestamp,
};
use super::object::{Fields, object};
use crate::model::Activity;

/// `None` when no steps, frames or passes are known: models and blocks have objects of their own.
pub(super) fn of(activity: &Activity) -> Option<impl Serialize> {
    let found = activity.diffusion.as_ref()?;
    let says_something = found.steps.is_some()
        || !found.rates.is_empty()
        || found.delivery.is_some()
        || found.guidance.is_some()
        || found.clean_passes.is_some();
    says_something.then(|| {
        object! {
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
        total_steps: each.len(),
        steps: steps,
        steps_left_out: steps_left_out,
        ..computation_times(found.and_then(|steps| steps.all.as_ref())),
        avg_timestep: timesteps.map(|spread| spread.mean),
        min_timestep: timesteps.map(|spread| spread.min),
        max_timestep: timesteps.map(|spread| spread.max),
        ..block_sizes(found.and_then(|steps| steps.frames)),
        total_frames: found.and_then(|steps| steps.total_frames),
        fps: found.and_then(|steps| steps.frames_per_second),
        bps: found.and_then(|steps| steps.loops_per_second),
        source: found.map(|steps| source(&steps.source)),
        steps_not_recorded: count(|steps| steps.not_recorded),
        total_loops: count(|steps| steps.n_loops),
        max_steps_per_loop: count(|steps| steps.per_loop_max),
        warm_up: times(|steps| steps.warm_up.as_ref()),
        steady: times(|steps| steps.steady.as_ref()),
        gpu_warm_up: times(|steps| steps.gpu_warm_up.as_ref()),
        gpu_steady: times(|steps| steps.gpu_steady.as_ref()),
        outliers: outliers.collect::<Vec<_>>(),
    }
}

fn step(activity: &Activity, found: &StepPoint) -> impl Serialize + use<> {
    object! {
        timestamp: timestamp(activity, found.end_ns),
        step: found.step,
        timestep: found.timestep,
        block_size: found.frames,
        computation_time_ms: found.duration_ns.map(milliseconds),
        guidance_scale: found.guidance_scale,
        loop: found.loop_number,
        block_index: found.block,
        cached: found.is_cached,
        gpu_time_ms: found.gpu_ns.map(milliseconds),
        passes: found.n_passes,
        warm_up: found.is_warm_up,
    }
}

fn costs<'a>(activity: &'a Activity, found: &'a Diffusion) -> impl Fields + use<'a> {
    object! {
        frame_rates: found.rates.iter().map(frame_rate).collect::<Vec<_>>(),
        delivery: found.delivery.as_ref().map(|found| delivery(activity, found)),
        step_caching: found.caching.as_ref().map(|found| object! {
            cached_steps: found.n_cached,
            computed_steps: found.n_computed,
            cached: durations(found.cached.as_ref()),
            computed: durations(found.computed.as_ref()),
            time_saved_ms: found.saved_ns.map(|ns| ns / 1e6),
        }),
        guidance: found.guidance.as_ref().map(guidance),
        context_growth: found.growth.as_ref().map(|found| object! {
            blocks: found.n_blocks,
            first_block_step_ms: found.first_ns / 1e6,
            last_block_step_ms: found.last_ns / 1e6,
            growth_per_block_ms: found.per_block_ns / 1e6,
            growth_interval_ms: found.interval_ns.map(|ns| ns / 1e6),
        }),
        clean_passes: found.clean_passes.as_ref().map(|found| object! {
            name: &found.name,
            calls: durations(Some(&found.calls)),
            share_percent: found.share_ratio.map(|ratio| ratio * PERCENT),
        }),
    }
}

pub(super) fn frame_rate(rate: &FrameRate) -> impl Serialize {
    object! {
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

fn delivery<'a>(activity: &'a Activity, found: &'a Delivery) -> impl Serialize + use<'a> {
    let (deliveries, deliveries_left_out) = listed(&found.each, |point| {
        object! {
            timestamp: timestamp(activity, point.at_ns),
            frames: point.frames,
            deadline: point.deadline_ns.map(|at_ns| timestamp(activity, at_ns)),
            stalled_ms: milliseconds(point.stalled_ns),
        }
    });
    object! {
        playback_fps: found.playback_per_second,
        real_time_factor: found.real_time_factor,
        time_to_first_frame_ms: milliseconds(found.time_to_first_ns),
        between: durations(found.between.as_ref()),
        jitter_ms: found.jitter_ns.map(|ns| ns / 1e6),
        deadlines_met: found.deadlines_met,
        deadlines_missed: found.deadlines_missed,
        stalled_ms: milliseconds(found.stalled_ns),
        frames_ahead_needed: found.frames_ahead_needed,
        deliveries: deliveries,
        deliveries_left_out: deliveries_left_out,
    }
}

fn guidance(found: &Guidance) -> impl Serialize {
    let ways = found.ways.iter().map(|way| {
        object! {
            how: &way.how,
            calls_per_step: way.calls_per_step,
            batch_factor: way.batch_factor,
            generations: way.n_generations,
        }
    });
    object! {
        guided: durations(found.guided.as_ref()),
        unguided: durations(found.unguided.as_ref()),
        conditional_ms: found.conditional_ns.map(milliseconds),
        unconditional_ms: found.unconditional_ns.map(milliseconds),
        unconditional_percent: found.unconditional_ratio.map(|ratio| ratio * PERCENT),
        ways: ways.collect::<Vec<_>>(),
    }
}
