//! Iterations that follow each other, put together in cells.

use super::{IterationCell, IterationSums, RankSummary};
use crate::intervals::{Interval, length_within};
use crate::stats::{percentile, sum};

/// When collectives were open. Both lists are disjoint and ascending.
///
/// ```text
/// succeeded    |---|        |--|
/// failed         |----x
/// any          |------|     |--|
/// ```
#[derive(Clone, Debug, Default)]
pub(super) struct Communication {
    /// Those that succeeded.
    pub(super) succeeded: Vec<Interval>,
    /// All of them.
    pub(super) any: Vec<Interval>,
}

/// One iteration whose duration is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Iteration {
    pub(super) time: Interval,
    /// Also where `time` begins at the start of the run and is cut there.
    pub(super) duration_ns: u64,
    pub(super) is_warm_up: bool,
}

/// Iterations in order of time; `None` when there are none. `communication` is `None` where no collective was recorded.
pub(super) fn iteration_sums(
    iterations: &[Iteration],
    communication: Option<&Communication>,
) -> Option<IterationSums> {
    if iterations.is_empty() {
        return None;
    }
    let per_cell = iterations_of_a_cell(iterations.len());
    let steady = iterations.iter().filter(|iteration| !iteration.is_warm_up);
    let mut steady: Vec<u64> = steady.map(|iteration| iteration.duration_ns).collect();
    steady.sort_unstable();
    Some(IterationSums {
        count: iterations.len() as u64,
        median_ns: percentile(&steady, 0.5),
        per_cell: u32::try_from(per_cell).unwrap_or(u32::MAX),
        cells: iterations
            .chunks(per_cell)
            .map(|iterations| cell(iterations, communication))
            .collect(),
    })
}

/// The least power of two with which all fit.
fn iterations_of_a_cell(n_iterations: usize) -> usize {
    let mut per_cell = 1;
    while n_iterations.div_ceil(per_cell) > RankSummary::MAX_CELLS {
        per_cell *= 2;
    }
    per_cell
}

fn cell(iterations: &[Iteration], communication: Option<&Communication>) -> IterationCell {
    let of_iteration = |iteration: &Iteration| {
        let succeeded_ns = communication.map(|open| length_within(iteration.time, &open.succeeded));
        let any_ns = communication.map_or(0, |open| length_within(iteration.time, &open.any));
        IterationCell {
            start_ns: iteration.time.start_ns,
            end_ns: iteration.time.end_ns,
            total_ns: iteration.duration_ns,
            communication_ns: succeeded_ns,
            failed_ns: any_ns.saturating_sub(succeeded_ns.unwrap_or_default()),
            is_warm_up: iteration.is_warm_up,
        }
    };
    IterationCell::joined(&iterations.iter().map(of_iteration).collect::<Vec<IterationCell>>())
}

impl IterationCell {
    /// Cells that follow each other as one.
    pub(crate) fn joined(cells: &[Self]) -> Self {
        let of_all = |figure: fn(&Self) -> u64| sum(cells.iter().map(figure));
        let communication: Option<Vec<u64>> =
            cells.iter().map(|cell| cell.communication_ns).collect();
        Self {
            start_ns: cells.iter().map(|cell| cell.start_ns).min().unwrap_or_default(),
            end_ns: cells.iter().map(|cell| cell.end_ns).max().unwrap_or_default(),
            total_ns: of_all(|cell| cell.total_ns),
            communication_ns: communication.map(|all| sum(all.into_iter())),
            failed_ns: of_all(|cell| cell.failed_ns),
            is_warm_up: cells.iter().any(|cell| cell.is_warm_up),
        }
    }

    /// From the beginning of its first to the end of its last.
    pub(crate) fn time(&self) -> Interval {
        Interval { start_ns: self.start_ns, end_ns: self.end_ns }
    }
}
