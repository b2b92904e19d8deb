//! Steps and blocks, and which of them warm up.

use std::collections::BTreeSet;

use crate::intervals::Interval;
use crate::job::TurnSums;
use crate::job::turn_cells::{Communication, Turn, turn_sums};
use crate::questions::diffusion::{BlockPoint, Diffusion, StepPoint};

/// Denoising steps; `None` when none has a duration. `communication` is `None` where no collective was recorded.
pub(super) fn steps(found: &Diffusion, communication: Option<&Communication>) -> Option<TurnSums> {
    let steps = &found.steps.as_ref()?.each;
    let blocks = found.blocks.as_ref().map_or(&[][..], |blocks| &blocks.each);
    let warm = first_steps(steps, blocks);
    let turns = steps.iter().enumerate().filter_map(|(index, step)| {
        Some(turn(step.end_ns, step.duration_ns?, warm.contains(&index)))
    });
    turn_sums(&turns.collect::<Vec<Turn>>(), communication)
}

/// Blocks, likewise.
pub(super) fn blocks(found: &Diffusion, communication: Option<&Communication>) -> Option<TurnSums> {
    let mut seen = BTreeSet::new();
    let of_block = |block: &BlockPoint| {
        let is_warm_up = seen.insert(block.generation);
        Some(turn(block.end_ns, block.duration_ns?, is_warm_up))
    };
    let turns = found.blocks.as_ref()?.each.iter().filter_map(of_block);
    turn_sums(&turns.collect::<Vec<Turn>>(), communication)
}

fn turn(end_ns: u64, duration_ns: u64, is_warm_up: bool) -> Turn {
    Turn {
        time: Interval {
            start_ns: end_ns.saturating_sub(duration_ns),
            end_ns,
        },
        duration_ns,
        is_warm_up,
    }
}

/// The first step of each generation. Without blocks each loop is one; with blocks it begins with its first block.
///
/// ```text
/// generation   |---------- 0 ----------|  |---------- 1 ----------|
/// block        |--- 0 ---||---- 1 -----|  |--- 0 ---||---- 1 -----|
/// step          0  1  2     0  1  2        0  1  2     0  1  2
/// warm-up       x                          x
/// ```
fn first_steps(steps: &[StepPoint], blocks: &[BlockPoint]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    if blocks.is_empty() {
        let first = steps.iter().enumerate();
        let first = first.filter(|(_, step)| seen.insert(step.loop_number));
        return first.map(|(index, _)| index).collect();
    }
    let first_blocks = blocks.iter().filter(|block| seen.insert(block.generation));
    let first_step = |block: &BlockPoint| {
        let start_ns = block.end_ns.saturating_sub(block.duration_ns.unwrap_or(0));
        let is_its = |step: &StepPoint| {
            (step.session, step.thread) == (block.session, block.thread) && step.end_ns >= start_ns
        };
        steps.iter().position(is_its)
    };
    first_blocks.filter_map(first_step).collect()
}
