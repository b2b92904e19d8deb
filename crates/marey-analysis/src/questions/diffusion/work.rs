//! What frames were made in: blocks, or denoising steps.

use std::collections::BTreeSet;

use super::blocks::BlockPoint;
use super::steps::{StepPoint, frames_of_loops};
use super::thread_spans::{ThreadSpans, Turn};
use crate::intervals::Interval;
use crate::stats::sum;

/// What frames were made in.
pub(super) struct Work {
    /// "blocks" or "denoising steps".
    pub(super) name: &'static str,
    /// Latent frames of all that was made.
    pub(super) frames: Option<u64>,
    /// When it was made.
    pub(super) made: ThreadSpans,
    /// The sessions that it was made in.
    pub(super) sessions: BTreeSet<Option<u32>>,
}

impl Work {
    /// Of blocks, otherwise of steps; `None` when no duration of either is known.
    pub(super) fn of(blocks: &[BlockPoint], steps: &[StepPoint]) -> Option<Self> {
        Self::of_blocks(blocks).or_else(|| Self::of_steps(steps))
    }

    /// The same with what did not say its frames, of the sessions that are wanted; `None` where a duration is missing.
    pub(super) fn whole(
        blocks: &[BlockPoint],
        steps: &[StepPoint],
        is_wanted: impl Fn(Option<u32>) -> bool,
    ) -> Option<Self> {
        let has_blocks = blocks.iter().any(|block| block.duration_ns.is_some());
        let (name, mut each): (_, Vec<Turn>) = if has_blocks {
            ("blocks", blocks.iter().map(BlockPoint::turn).collect())
        } else {
            let turns = steps.iter().map(StepPoint::turn);
            ("denoising steps", turns.collect())
        };
        each.retain(|turn| is_wanted(turn.session));
        let is_whole = each.iter().all(|turn| turn.duration_ns.is_some());
        is_whole.then(|| Self::new(name, None, each)).flatten()
    }

    /// When it was made, threads beside one another.
    pub(super) fn intervals(&self) -> Vec<Interval> {
        self.made.spans.iter().map(|(_, span)| *span).collect()
    }

    fn new(name: &'static str, frames: Option<u64>, turns: Vec<Turn>) -> Option<Self> {
        let sessions = turns.iter().map(|turn| turn.session).collect();
        let made = ThreadSpans::of(turns.into_iter());
        (made.duration_ns > 0).then_some(Self { name, frames, made, sessions })
    }

    /// Blocks of which duration and, where any of them said, frames are known.
    fn of_blocks(blocks: &[BlockPoint]) -> Option<Self> {
        let have_frames = blocks.iter().any(|b| b.frames.is_some() && b.duration_ns.is_some());
        let known = blocks.iter().filter(|block| !have_frames || block.frames.is_some());
        let known: Vec<&BlockPoint> = known.filter(|block| block.duration_ns.is_some()).collect();
        let frames = have_frames.then(|| sum(known.iter().filter_map(|b| b.frames)));
        let turns = known.iter().map(|block| block.turn());
        Self::new("blocks", frames, turns.collect())
    }

    /// Steps of loops of which all durations and, where any of them said, frames are known.
    fn of_steps(steps: &[StepPoint]) -> Option<Self> {
        let frames = frames_of_loops(steps);
        let is_known =
            |step: &&StepPoint| frames.is_empty() || frames.contains_key(&step.loop_number);
        let known: Vec<&StepPoint> = steps.iter().filter(is_known).collect();
        let turns = known.iter().map(|step| step.turn());
        let frames = (!frames.is_empty()).then(|| sum(frames.values().copied()));
        Self::new("denoising steps", frames, turns.collect())
    }
}
