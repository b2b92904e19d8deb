//! `block_analysis`: autoregressive blocks of frames.

use marey_analysis::{BlockPoint, Blocks};
use serde::Serialize;

use super::diffusion::timestamp;
use super::durations::{BlockSizes, ComputationTimes, DurationsObject, SourceObject, milliseconds};
use super::listed::listed;
use super::mebibytes;
use crate::model::Activity;

/// `block_analysis` of the report.
#[derive(Serialize)]
pub(super) struct BlockAnalysis<'a> {
    total_blocks: u64,
    blocks: Vec<BlockObject>,
    blocks_left_out: u64,
    #[serde(flatten)]
    computation: ComputationTimes,
    #[serde(flatten)]
    sizes: BlockSizes,
    total_frames: Option<u64>,
    avg_memory_usage_mb: Option<f64>,
    peak_memory_usage_mb: Option<f64>,
    min_memory_usage_mb: Option<f64>,
    fps: Option<f64>,
    bps: Option<f64>,
    source: SourceObject<'a>,
    blocks_not_recorded: u64,
    warm_up: Option<DurationsObject>,
    steady: Option<DurationsObject>,
    time_to_first_block_ms: Option<f64>,
    between: Option<DurationsObject>,
    jitter_ms: Option<f64>,
}

#[derive(Serialize)]
struct BlockObject {
    timestamp: f64,
    block_index: u64,
    block_size: Option<u64>,
    computation_time_ms: Option<f64>,
    memory_usage_mb: Option<f64>,
    generation: u64,
}

impl<'a> BlockAnalysis<'a> {
    /// `None` when there are no blocks.
    pub(super) fn new(activity: &'a Activity) -> Option<Self> {
        let blocks = activity.diffusion.as_ref()?.blocks.as_ref()?;
        Some(Self::of(activity, blocks))
    }

    fn of(activity: &'a Activity, found: &'a Blocks) -> Self {
        let (blocks, blocks_left_out) =
            listed(&found.each, |block| BlockObject::new(activity, block));
        let memory = found.memory_bytes;
        let mib = |bytes: f64| bytes / 1_048_576.0;
        Self {
            total_blocks: found.each.len() as u64,
            blocks,
            blocks_left_out,
            computation: ComputationTimes::new(found.all.as_ref()),
            sizes: BlockSizes::new(found.frames),
            total_frames: found.total_frames,
            avg_memory_usage_mb: memory.map(|bytes| mib(bytes.mean)),
            peak_memory_usage_mb: memory.map(|bytes| mib(bytes.max)),
            min_memory_usage_mb: memory.map(|bytes| mib(bytes.min)),
            fps: found.frames_per_second,
            bps: found.per_second,
            source: SourceObject::new(&found.source),
            blocks_not_recorded: found.not_recorded,
            warm_up: DurationsObject::of(found.warm_up.as_ref()),
            steady: DurationsObject::of(found.steady.as_ref()),
            time_to_first_block_ms: found.time_to_first_ns.map(milliseconds),
            between: DurationsObject::of(found.between.as_ref()),
            jitter_ms: found.jitter_ns.map(|ns| ns / 1e6),
        }
    }
}

impl BlockObject {
    fn new(activity: &Activity, block: &BlockPoint) -> Self {
        Self {
            timestamp: timestamp(activity, block.end_ns),
            block_index: block.index,
            block_size: block.frames,
            computation_time_ms: block.duration_ns.map(milliseconds),
            memory_usage_mb: block.memory_bytes.map(mebibytes),
            generation: block.generation,
        }
    }
}
