//! Steps and blocks, and which of them warm up.

use crate::Steps;
use crate::job::IterationSums;
use crate::job::iteration_cells::{Communication, Iteration, iteration_sums};

/// `None` when none has a duration. `communication` is `None` where no collective was recorded.
pub(super) fn iterations(
    found: Option<&Steps>,
    communication: Option<&Communication>,
) -> Option<IterationSums> {
    let iterations = found?.each.iter().filter_map(|step| {
        let (time, duration_ns) = (step.time()?, step.duration_ns?);
        Some(Iteration { time, duration_ns, is_warm_up: step.is_warm_up })
    });
    iteration_sums(&iterations.collect::<Vec<Iteration>>(), communication)
}
