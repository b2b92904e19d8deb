//! `block_analysis`: autoregressive blocks of frames.

use super::figures::{
    MIB, block_sizes, computation_times, durations, listed, milliseconds, source, timestamp,
};
use super::mebibytes;
use super::object::{Json, object};
use crate::model::Activity;

/// `None` when there are no blocks.
pub(super) fn of(activity: &Activity) -> Option<impl Json> {
    let found = activity.diffusion.as_ref()?.blocks.as_ref()?;
    let memory = found.memory_bytes;
    let (blocks, blocks_left_out) = listed(&found.each, |block| {
        object! {
            /// When it ended, seconds since 1970.
            timestamp: timestamp(activity, block.end_ns),
            /// Its number, as reported, otherwise counted.
            block_index: block.index,
            /// Latent frames in it.
            block_size: block.frames,
            /// How long it took; null when not known.
            computation_time_ms: block.duration_ns.map(milliseconds),
            /// Memory in use, as the program read it, MiB.
            memory_usage_mb: block.memory_bytes.map(mebibytes),
            /// The generation that it is of, from 0.
            generation: block.generation,
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
        bps: found.per_second,
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
