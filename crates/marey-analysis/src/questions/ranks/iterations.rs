//! How long did each step, or block, take on the ranks?

use serde::Serialize;

use super::over_ranks::{over_ranks, rounded_mean};
use super::{OverRanks, placed};
use crate::job::{IterationCell, IterationSums, RankSummary};

/// Steps, or blocks, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct IterationsOverRanks {
    /// How many all ranks have.
    pub count: u64,
    /// Ranks differ in how many they have: lowest and highest. `None` when they agree.
    pub counts_differ: Option<(u64, u64)>,
    /// Ranks of which iterations are lost, so that the n-th of the rest need not be the n-th of the others: by place. They have a median, and
    /// are not in `each` and `heat_map`.
    pub out_of_step: Vec<u32>,
    /// Iterations of a cell.
    pub per_cell: u32,
    /// Each rank's median of iterations that are no warm-up, by rank; `None` when no rank has one.
    pub medians: Option<OverRanks>,
    /// Each cell over ranks, in order of time.
    pub each: Vec<IterationSpread>,
    /// Rank by cell.
    pub heat_map: HeatMap,
}

/// One cell of iterations over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct IterationSpread {
    /// Number of its first iteration, from 0.
    pub first: u64,
    /// It holds the first iteration of a rank, which warms up.
    pub is_warm_up: bool,
    /// Mean duration of an iteration of the cell, by rank.
    pub durations: OverRanks,
    /// The same without the time in collectives, of ranks that recorded any; `None` when none did.
    pub own: Option<OverRanks>,
}

/// Rank by cell: mean duration of the cell's iterations, row after row; `None` where a rank has no such iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HeatMap {
    /// Places of the ranks that have iterations: the rows.
    pub places: Vec<u32>,
    /// Number of columns.
    pub n_cells: u32,
    /// `places.len() · n_cells` values.
    pub durations_ns: Vec<Option<u64>>,
    /// The same without the time in collectives; empty when no rank recorded any.
    pub own_ns: Vec<Option<u64>>,
}

/// The cells of one rank, brought to a common width.
pub(super) struct Row {
    pub(super) place: u32,
    pub(super) cells: Vec<Cell>,
}

/// Iterations that follow each other, and how many they are.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) n_iterations: u64,
    pub(super) sums: IterationCell,
}

impl Cell {
    /// Mean duration of an iteration.
    pub(super) fn mean_ns(&self) -> u64 {
        rounded_mean(self.sums.total_ns, self.n_iterations).unwrap_or_default()
    }

    /// Time in collectives of an iteration, on average; `None` when the rank recorded none.
    pub(super) fn communication_mean_ns(&self) -> Option<u64> {
        rounded_mean(self.sums.communication_ns?, self.n_iterations)
    }

    /// Time of an iteration in collectives that failed, on average: nobody's work.
    pub(super) fn failed_mean_ns(&self) -> u64 {
        rounded_mean(self.sums.failed_ns, self.n_iterations).unwrap_or_default()
    }

    /// The duration without the time in collectives, failed or not; `None` when the rank recorded none.
    fn own_ns(&self) -> Option<u64> {
        let communication_ns = self.sums.communication_ns?;
        let in_calls_ns = communication_ns.saturating_add(self.sums.failed_ns);
        let own_ns = self.sums.total_ns.saturating_sub(in_calls_ns);
        rounded_mean(own_ns, self.n_iterations)
    }
}

/// Steps or blocks over ranks; `None` when no rank has any. The n-th iteration of a rank is compared with the n-th of the others. Ranks whose
/// cells hold fewer iterations than those of others get theirs put together:
///
/// ```text
/// rank 0   per_cell 1   |10|12|10|10|          |--11--|--10--|
/// rank 1   per_cell 2   |--20--|--24--|    ►   |--20--|--24--|
/// ```
///
/// A rank with losses and fewer iterations than others has gaps somewhere: after the first one its iterations would stand beside the wrong ones.
///
/// No row has more cells than [`RankSummary::MAX_CELLS`].
pub(super) fn iterations(
    places: &[&RankSummary],
    kind: impl Fn(&RankSummary) -> Option<&IterationSums>,
) -> Option<IterationsOverRanks> {
    let known = known(places, kind);
    let counts = || known.iter().map(|(_, iterations)| iterations.count);
    let (fewest, most) = counts().min().zip(counts().max())?;
    let all = counts().fold(0, u64::saturating_add);
    let medians = known.iter();
    let medians: Vec<(u32, u64)> =
        medians.filter_map(|(place, iterations)| Some((*place, iterations.median_ns?))).collect();
    let is_out_of_step = |(place, iterations): &(u32, &IterationSums)| {
        let rank = places.get(*place as usize);
        let has_losses = rank.is_some_and(|one| one.n_lost > 0 || !one.warnings.is_empty());
        has_losses && iterations.count < most
    };
    let (out, known): (Vec<_>, Vec<_>) = known.iter().copied().partition(is_out_of_step);
    let per_cell = common_width(&known);
    let rows = rows(&known, per_cell);
    Some(IterationsOverRanks {
        out_of_step: out.iter().map(|(place, _)| *place).collect(),
        count: all,
        counts_differ: (fewest != most).then_some((fewest, most)),
        per_cell,
        medians: over_ranks(&medians),
        each: each(&rows, per_cell),
        heat_map: heat_map(&rows),
    })
}

/// The rows of ranks that have cells, as [`iterations`] has them.
pub(super) fn common_rows(
    places: &[&RankSummary],
    kind: impl Fn(&RankSummary) -> Option<&IterationSums>,
) -> Vec<Row> {
    let known = known(places, kind);
    rows(&known, common_width(&known))
}

/// Ranks that have iterations, by place.
fn known<'a>(
    places: &[&'a RankSummary],
    kind: impl Fn(&RankSummary) -> Option<&IterationSums>,
) -> Vec<(u32, &'a IterationSums)> {
    let known = placed(places).filter_map(|(place, rank)| Some((place, kind(rank)?)));
    known.filter(|(_, iterations)| iterations.count > 0).collect()
}

/// Iterations of a cell that all ranks can be brought to.
fn common_width(known: &[(u32, &IterationSums)]) -> u32 {
    let widths = known.iter().map(|(_, iterations)| iterations.per_cell);
    let mut width = widths.max().unwrap_or_default().max(1);
    let n_cells = |width: u32| {
        let of_each = known.iter();
        let of_each = of_each.map(|(_, t)| t.cells.len().div_ceil(together(t, width)));
        of_each.max().unwrap_or_default()
    };
    while n_cells(width) > RankSummary::MAX_CELLS && width < 1 << 31 {
        width *= 2;
    }
    width
}

/// How many cells of a rank make one of `width` iterations.
fn together(iterations: &IterationSums, width: u32) -> usize {
    (width / iterations.per_cell.max(1)).max(1) as usize
}

fn rows(known: &[(u32, &IterationSums)], width: u32) -> Vec<Row> {
    let with_cells = known.iter().filter(|(_, iterations)| !iterations.cells.is_empty());
    let row = |(place, iterations): &(u32, &IterationSums)| {
        let n_together = together(iterations, width);
        let groups = iterations.cells.chunks(n_together).enumerate();
        Row {
            place: *place,
            cells: groups.map(|(at, cells)| cell(iterations, at * n_together, cells)).collect(),
        }
    };
    with_cells.map(row).collect()
}

/// Cells of a rank from the `first` on as one.
fn cell(iterations: &IterationSums, first: usize, cells: &[IterationCell]) -> Cell {
    let per_cell = u64::from(iterations.per_cell.max(1));
    let mut n_iterations = per_cell.saturating_mul(cells.len() as u64);
    if first + cells.len() == iterations.cells.len() {
        // The last of all may have fewer.
        let before = per_cell.saturating_mul((iterations.cells.len() - 1) as u64);
        let last = iterations.count.saturating_sub(before).clamp(1, per_cell);
        n_iterations = n_iterations.saturating_sub(per_cell).saturating_add(last);
    }
    Cell { n_iterations, sums: IterationCell::joined(cells) }
}

/// The longest row's number of cells.
fn n_cells(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.cells.len()).max().unwrap_or(0)
}

fn each(rows: &[Row], per_cell: u32) -> Vec<IterationSpread> {
    let spread = |at: usize| {
        let column = || rows.iter().filter_map(|row| Some((row.place, row.cells.get(at)?)));
        let durations: Vec<(u32, u64)> =
            column().map(|(place, cell)| (place, cell.mean_ns())).collect();
        let own: Vec<(u32, u64)> =
            column().filter_map(|(place, cell)| Some((place, cell.own_ns()?))).collect();
        Some(IterationSpread {
            first: (at as u64).saturating_mul(per_cell.into()),
            is_warm_up: column().any(|(_, cell)| cell.sums.is_warm_up),
            durations: over_ranks(&durations)?,
            own: over_ranks(&own),
        })
    };
    (0..n_cells(rows)).filter_map(spread).collect()
}

fn heat_map(rows: &[Row]) -> HeatMap {
    let n_cells = n_cells(rows);
    let values = |of: fn(&Cell) -> Option<u64>| -> Vec<Option<u64>> {
        let of_row = |row: &Row| (0..n_cells).map(|at| row.cells.get(at).and_then(of)).collect();
        rows.iter().map(of_row).collect::<Vec<Vec<_>>>().concat()
    };
    let mut own_ns = values(Cell::own_ns);
    if own_ns.iter().all(Option::is_none) {
        own_ns.clear();
    }
    HeatMap {
        places: rows.iter().map(|row| row.place).collect(),
        n_cells: u32::try_from(n_cells).unwrap_or(u32::MAX),
        durations_ns: values(|cell| Some(cell.mean_ns())),
        own_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Iterations one after the other, each with its time in collectives.
    fn rank(per_cell: u32, count: u64, cells: &[(u64, Option<u64>)]) -> RankSummary {
        let mut end_ns = 0;
        let cells = cells.iter().map(|&(total_ns, communication_ns)| {
            let start_ns = end_ns;
            end_ns += total_ns;
            IterationCell {
                start_ns,
                end_ns,
                total_ns,
                communication_ns,
                failed_ns: 0,
                is_warm_up: start_ns == 0,
            }
        });
        let steps = IterationSums { count, per_cell, cells: cells.collect(), median_ns: Some(11) };
        RankSummary { steps: Some(steps), ..RankSummary::default() }
    }

    fn steps(ranks: &[RankSummary]) -> Option<IterationsOverRanks> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        iterations(&places, |rank| rank.steps.as_ref())
    }

    #[test]
    fn a_rank_that_lost_steps_is_not_compared_step_by_step() {
        // rank 0   |--10--|--20--|--30--|
        // rank 1   |--10--| lost |--30--|     its second step would stand beside the others' second
        let whole = rank(1, 3, &[(10, None), (20, None), (30, None)]);
        let mut damaged = rank(1, 2, &[(10, None), (30, None)]);
        damaged.warnings = vec!["12 bytes are damaged".into()];
        let found = steps(&[whole.clone(), damaged.clone()]).unwrap();
        assert_eq!(found.out_of_step, [1]);
        assert_eq!(found.heat_map.places, [0]);
        assert_eq!((found.each.len(), found.each[1].durations.n_ranks), (3, 1));
        assert_eq!(found.medians.map(|over| over.n_ranks), Some(2));
        assert_eq!(found.count, 5);
        // Damage elsewhere leaves the steps in order.
        damaged.steps = whole.steps.clone();
        let found = steps(&[whole, damaged]).unwrap();
        assert!(found.out_of_step.is_empty());
        assert_eq!(found.heat_map.places, [0, 1]);
    }

    #[test]
    fn each_step_is_compared_over_ranks() {
        // rank 0   |--10--|--10--|            2, 4 of them in collectives
        // rank 1   |--14--|--10--|--10--|     none recorded
        let ranks = [
            rank(1, 2, &[(10, Some(2)), (10, Some(4))]),
            rank(1, 3, &[(14, None), (10, None), (10, None)]),
        ];
        let found = steps(&ranks).unwrap();
        assert_eq!((found.count, found.counts_differ), (5, Some((2, 3))));
        let durations = |at: usize| {
            let over = found.each[at].durations;
            (over.n_ranks, over.min_ns, over.max_ns, over.slowest)
        };
        assert_eq!(durations(0), (2, 10, 14, 1));
        assert_eq!(durations(1), (2, 10, 10, 0));
        assert_eq!(durations(2), (1, 10, 10, 1));
        let own = |at: usize| found.each[at].own.map(|own| (own.n_ranks, own.max_ns));
        assert_eq!((own(0), own(1), own(2)), (Some((1, 8)), Some((1, 6)), None));
        assert!(found.each[0].is_warm_up && !found.each[1].is_warm_up);
        let map = &found.heat_map;
        assert_eq!((map.n_cells, map.places.as_slice()), (3, [0, 1].as_slice()));
        let expected = [Some(10), Some(10), None, Some(14), Some(10), Some(10)];
        assert_eq!(map.durations_ns, expected);
        assert_eq!(map.own_ns, [Some(8), Some(6), None, None, None, None]);
    }

    #[test]
    fn failed_calls_are_taken_off_like_communication() {
        // |-- work 3 --|all_reduce 2|-- barrier 20, fails --x-- work 5 --|      two iterations like this in a cell
        let mut one = rank(2, 2, &[(60, Some(4))]);
        if let Some(steps) = &mut one.steps {
            steps.cells[0].failed_ns = 40;
        }
        let found = steps(&[one]).unwrap();
        assert_eq!(found.heat_map.durations_ns, [Some(30)]);
        assert_eq!(found.heat_map.own_ns, [Some(8)]);
    }

    #[test]
    fn ranks_with_wide_and_narrow_cells_are_brought_to_the_wide_ones() {
        // rank 0   |10|12|10|10|8|       ►   |11  |10  |8 |
        // rank 1   |--20--|--24--|       ►   |10  |12  |        four iterations in two cells
        let ranks = [
            rank(1, 5, &[(10, None), (12, None), (10, None), (10, None), (8, None)]),
            rank(2, 4, &[(20, None), (24, None)]),
        ];
        let found = steps(&ranks).unwrap();
        assert_eq!(found.per_cell, 2);
        let firsts: Vec<u64> = found.each.iter().map(|cell| cell.first).collect();
        assert_eq!(firsts, [0, 2, 4]);
        let expected = [Some(11), Some(10), Some(8), Some(10), Some(12), None];
        assert_eq!(found.heat_map.durations_ns, expected);
        assert_eq!(found.heat_map.own_ns, []);
    }

    #[test]
    fn the_last_cell_may_hold_fewer_turns() {
        // Three iterations of 10 in cells of two: |--20--|10|
        let found = steps(&[rank(2, 3, &[(20, None), (10, None)])]).unwrap();
        assert_eq!(found.heat_map.durations_ns, [Some(10), Some(10)]);
    }

    #[test]
    fn no_row_is_longer_than_the_cells_that_a_rank_keeps() {
        let cells = vec![(4, None); RankSummary::MAX_CELLS * 2 + 1];
        let found = steps(&[rank(1, cells.len() as u64, &cells)]).unwrap();
        assert_eq!((found.per_cell, found.heat_map.n_cells), (4, 257));
    }

    #[test]
    fn without_steps_there_is_no_answer() {
        assert_eq!(steps(&[RankSummary::default()]), None);
        assert_eq!(steps(&[]), None);
    }
}
