//! What frames were made in: blocks, or denoising steps.

use super::blocks::BlockPoint;
use super::durations::sum;
use super::steps::{StepPoint, frames_of_loops};
use super::thread_spans::disjoint;
use crate::intervals::Interval;

/// What frames were made in.
pub(super) struct Work {
    /// "blocks" or "denoising steps".
    pub(super) name: &'static str,
    /// Latent frames of all that was made.
    pub(super) frames: Option<u64>,
    /// Sum of the durations of what was made.
    pub(super) duration_ns: u64,
    /// When it was made, by thread.
    pub(super) spans: Vec<(u32, Interval)>,
}

impl Work {
    /// Of blocks, otherwise of steps; `None` when no duration of either is known.
    pub(super) fn of(blocks: &[BlockPoint], steps: &[StepPoint]) -> Option<Self> {
        Self::of_blocks(blocks).or_else(|| Self::of_steps(steps))
    }

    /// When it was made, threads beside one another.
    pub(super) fn intervals(&self) -> Vec<Interval> {
        self.spans.iter().map(|(_, span)| *span).collect()
    }

    /// Blocks of which duration and, where any of them said, frames are known.
    fn of_blocks(blocks: &[BlockPoint]) -> Option<Self> {
        let have_frames = blocks
            .iter()
            .any(|b| b.frames.is_some() && b.duration_ns.is_some());
        let known = blocks
            .iter()
            .filter(|block| !have_frames || block.frames.is_some());
        let known: Vec<&BlockPoint> = known.filter(|block| block.duration_ns.is_some()).collect();
        let spans = disjoint(known.iter().map(|b| (b.thread, b.end_ns, b.duration_ns)));
        Some(Self {
            name: "blocks",
            frames: have_frames.then(|| sum(known.iter().filter_map(|b| b.frames))),
            duration_ns: sum(known.iter().filter_map(|b| b.duration_ns)),
            spans,
        })
        .filter(|work| work.duration_ns > 0)
    }

    /// Steps of loops of which all durations and, where any of them said, frames are known.
    fn of_steps(steps: &[StepPoint]) -> Option<Self> {
        let frames = frames_of_loops(steps);
        let is_known =
            |step: &&StepPoint| frames.is_empty() || frames.contains_key(&step.loop_number);
        let known: Vec<&StepPoint> = steps.iter().filter(is_known).collect();
        let spans = disjoint(known.iter().map(|s| (s.thread, s.end_ns, s.duration_ns)));
        Some(Self {
            name: "denoising steps",
            frames: (!frames.is_empty()).then(|| sum(frames.values().copied())),
            duration_ns: sum(known.iter().filter_map(|s| s.duration_ns)),
            spans,
        })
        .filter(|work| work.duration_ns > 0)
    }
}
