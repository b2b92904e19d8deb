//! `block_analysis`: autoregressive blocks of frames.

use serde::Serialize;

use super::figures::{
    MIB, block_sizes, computation_times, durations, listed, milliseconds, source, timestamp,
};
use super::mebibytes;
use super::object::object;
use crate::model::Activity;

/// `None` when there are no blocks.
pub(super) fn of(activity: &Activity) -> Option<impl Serialize> {
    let found = activity.diffusion.as_ref()?.blocks.as_ref()?;
    let memory = found.memory_bytes;
    let (blocks, blocks_left_out) = listed(&found.each, |block| {
        object! {
            timestamp: timestamp(activity, block.end_ns),
            block_index: block.index,
            block_size: block.frames,
            computation_time_ms: block.duration_ns.map(milliseconds),
            memory_usage_mb: block.memory_bytes.map(mebibytes),
            generation: block.generation,
        }
    });
    Some(object! {
        total_blocks: found.each.len(),
        blocks: blocks,
        blocks_left_out: blocks_left_out,
        ..computation_times(found.all.as_ref()),
        ..block_sizes(found.frames),
        total_frames: found.total_frames,
        avg_memory_usage_mb: memory.map(|bytes| bytes.mean * MIB),
        peak_memory_usage_mb: memory.map(|bytes| bytes.max * MIB),
        min_memory_usage_mb: memory.map(|bytes| bytes.min * MIB),
        fps: found.frames_per_second,
        bps: found.per_second,
        source: source(&found.source),
        blocks_not_recorded: found.not_recorded,
        warm_up: durations(found.warm_up.as_ref()),
        steady: durations(found.steady.as_ref()),
        time_to_first_block_ms: found.time_to_first_ns.map(milliseconds),
        between: durations(found.between.as_ref()),
        jitter_ms: found.jitter_ns.map(|ns| ns / 1e6),
    })
}
