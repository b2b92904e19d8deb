//! Steps and blocks, and which of them warm up.

use crate::intervals::Interval;
use crate::job::IterationSums;
use crate::job::iteration_cells::{Communication, Iteration, iteration_sums};
use crate::questions::diffusion::Diffusion;

/// Denoising steps; `None` when none has a duration. `communication` is `None` where no collective was recorded.
pub(super) fn steps(
    found: &Diffusion,
    communication: Option<&Communication>,
) -> Option<IterationSums> {
    let steps = found.steps.as_ref()?.each.iter();
    let iterations =
        steps.filter_map(|step| Some(iteration(step.end_ns, step.duration_ns?, step.is_warm_up)));
    iteration_sums(&iterations.collect::<Vec<Iteration>>(), communication)
}

/// Blocks, likewise: the first one warms up.
pub(super) fn blocks(
    found: &Diffusion,
    communication: Option<&Communication>,
) -> Option<IterationSums> {
    let blocks = found.blocks.as_ref()?.each.iter().enumerate();
    let iterations =
        blocks.filter_map(|(at, block)| Some(iteration(block.end_ns, block.duration_ns?, at == 0)));
    iteration_sums(&iterations.collect::<Vec<Iteration>>(), communication)
}

fn iteration(end_ns: u64, duration_ns: u64, is_warm_up: bool) -> Iteration {
    Iteration {
        time: Interval { start_ns: end_ns.saturating_sub(duration_ns), end_ns },
        duration_ns,
        is_warm_up,
    }
}
