//! Steps and blocks, and which of them warm up.

use crate::intervals::Interval;
use crate::job::TurnSums;
use crate::job::turn_cells::{Communication, Turn, turn_sums};
use crate::questions::diffusion::Diffusion;

/// Denoising steps; `None` when none has a duration. `communication` is `None` where no collective was recorded.
pub(super) fn steps(found: &Diffusion, communication: Option<&Communication>) -> Option<TurnSums> {
    let steps = found.steps.as_ref()?.each.iter();
    let turns =
        steps.filter_map(|step| Some(turn(step.end_ns, step.duration_ns?, step.is_warm_up)));
    turn_sums(&turns.collect::<Vec<Turn>>(), communication)
}

/// Blocks, likewise: the first one warms up.
pub(super) fn blocks(found: &Diffusion, communication: Option<&Communication>) -> Option<TurnSums> {
    let blocks = found.blocks.as_ref()?.each.iter().enumerate();
    let turns =
        blocks.filter_map(|(at, block)| Some(turn(block.end_ns, block.duration_ns?, at == 0)));
    turn_sums(&turns.collect::<Vec<Turn>>(), communication)
}

fn turn(end_ns: u64, duration_ns: u64, is_warm_up: bool) -> Turn {
    Turn {
        time: Interval { start_ns: end_ns.saturating_sub(duration_ns), end_ns },
        duration_ns,
        is_warm_up,
    }
}
