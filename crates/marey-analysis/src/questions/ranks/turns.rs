//! How long did each step, or block, take on the ranks?

use serde::Serialize;

use super::over_ranks::{over_ranks, rounded_mean};
use super::{OverRanks, placed};
use crate::job::{RankSummary, TurnCell, TurnSums};

/// Steps, or blocks, over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TurnsOverRanks {
    /// How many all ranks have.
    pub count: u64,
    /// Ranks differ in how many they have: lowest and highest. `None` when they agree.
    pub counts_differ: Option<(u64, u64)>,
    /// Ranks of which turns are lost, so that the n-th of the rest need not be the n-th of the others: by place. They have a median, and
    /// are not in `each` and `heat_map`.
    pub out_of_step: Vec<u32>,
    /// Turns of a cell.
    pub per_cell: u32,
    /// Each rank's median of turns that are no warm-up, by rank; `None` when no rank has one.
    pub medians: Option<OverRanks>,
    /// Each cell over ranks, in order of time.
    pub each: Vec<TurnSpread>,
    /// Rank by cell.
    pub heat_map: HeatMap,
}

/// One cell of turns over ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TurnSpread {
    /// Number of its first turn, from 0.
    pub first: u64,
    /// It holds the first turn of a rank, which warms up.
    pub is_warm_up: bool,
    /// Mean duration of a turn of the cell, by rank.
    pub durations: OverRanks,
    /// The same without the time in collectives, of ranks that recorded any; `None` when none did.
    pub own: Option<OverRanks>,
}

/// Rank by cell: mean duration of the cell's turns, row after row; `None` where a rank has no such turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HeatMap {
    /// Places of the ranks that have turns: the rows.
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

/// Turns that follow each other, and how many they are.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) n_turns: u64,
    pub(super) sums: TurnCell,
}

impl Cell {
    /// Mean duration of a turn.
    pub(super) fn mean_ns(&self) -> u64 {
        rounded_mean(self.sums.total_ns, self.n_turns).unwrap_or_default()
    }

    /// Time in collectives of a turn, on average; `None` when the rank recorded none.
    pub(super) fn communication_mean_ns(&self) -> Option<u64> {
        rounded_mean(self.sums.communication_ns?, self.n_turns)
    }

    /// Time of a turn in collectives that failed, on average: nobody's work.
    pub(super) fn failed_mean_ns(&self) -> u64 {
        rounded_mean(self.sums.failed_ns, self.n_turns).unwrap_or_default()
    }

    /// The duration without the time in collectives, failed or not; `None` when the rank recorded none.
    fn own_ns(&self) -> Option<u64> {
        let communication_ns = self.sums.communication_ns?;
        let in_calls_ns = communication_ns.saturating_add(self.sums.failed_ns);
        let own_ns = self.sums.total_ns.saturating_sub(in_calls_ns);
        rounded_mean(own_ns, self.n_turns)
    }
}

/// Steps or blocks over ranks; `None` when no rank has any. The n-th turn of a rank is compared with the n-th of the others. Ranks whose
/// cells hold fewer turns than those of others get theirs put together:
///
/// ```text
/// rank 0   per_cell 1   |10|12|10|10|          |--11--|--10--|
/// rank 1   per_cell 2   |--20--|--24--|    ►   |--20--|--24--|
/// ```
///
/// A rank with losses and fewer turns than others has gaps somewhere: after the first one its turns would stand beside the wrong ones.
///
/// No row has more cells than [`RankSummary::MAX_CELLS`].
pub(super) fn turns(
    places: &[&RankSummary],
    kind: impl Fn(&RankSummary) -> Option<&TurnSums>,
) -> Option<TurnsOverRanks> {
    let known = known(places, kind);
    let counts = || known.iter().map(|(_, turns)| turns.count);
    let (fewest, most) = counts().min().zip(counts().max())?;
    let all = counts().fold(0, u64::saturating_add);
    let medians = known.iter();
    let medians: Vec<(u32, u64)> =
        medians.filter_map(|(place, turns)| Some((*place, turns.median_ns?))).collect();
    let is_out_of_step = |(place, turns): &(u32, &TurnSums)| {
        let rank = places.get(*place as usize);
        let has_losses = rank.is_some_and(|one| one.n_lost > 0 || !one.warnings.is_empty());
        has_losses && turns.count < most
    };
    let (out, known): (Vec<_>, Vec<_>) = known.iter().copied().partition(is_out_of_step);
    let per_cell = common_width(&known);
    let rows = rows(&known, per_cell);
    Some(TurnsOverRanks {
        out_of_step: out.iter().map(|(place, _)| *place).collect(),
        count: all,
        counts_differ: (fewest != most).then_some((fewest, most)),
        per_cell,
        medians: over_ranks(&medians),
        each: each(&rows, per_cell),
        heat_map: heat_map(&rows),
    })
}

/// The rows of ranks that have cells, as [`turns`] has them.
pub(super) fn common_rows(
    places: &[&RankSummary],
    kind: impl Fn(&RankSummary) -> Option<&TurnSums>,
) -> Vec<Row> {
    let known = known(places, kind);
    rows(&known, common_width(&known))
}

/// Ranks that have turns, by place.
fn known<'a>(
    places: &[&'a RankSummary],
    kind: impl Fn(&RankSummary) -> Option<&TurnSums>,
) -> Vec<(u32, &'a TurnSums)> {
    let known = placed(places).filter_map(|(place, rank)| Some((place, kind(rank)?)));
    known.filter(|(_, turns)| turns.count > 0).collect()
}

/// Turns of a cell that all ranks can be brought to.
fn common_width(known: &[(u32, &TurnSums)]) -> u32 {
    let widths = known.iter().map(|(_, turns)| turns.per_cell);
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

/// How many cells of a rank make one of `width` turns.
fn together(turns: &TurnSums, width: u32) -> usize {
    (width / turns.per_cell.max(1)).max(1) as usize
}

fn rows(known: &[(u32, &TurnSums)], width: u32) -> Vec<Row> {
    let with_cells = known.iter().filter(|(_, turns)| !turns.cells.is_empty());
    let row = |(place, turns): &(u32, &TurnSums)| {
        let n_together = together(turns, width);
        let groups = turns.cells.chunks(n_together).enumerate();
        Row {
            place: *place,
            cells: groups.map(|(at, cells)| cell(turns, at * n_together, cells)).collect(),
        }
    };
    with_cells.map(row).collect()
}

/// Cells of a rank from the `first` on as one.
fn cell(turns: &TurnSums, first: usize, cells: &[TurnCell]) -> Cell {
    let per_cell = u64::from(turns.per_cell.max(1));
    let mut n_turns = per_cell.saturating_mul(cells.len() as u64);
    if first + cells.len() == turns.cells.len() {
        // The last of all may have fewer.
        let before = per_cell.saturating_mul((turns.cells.len() - 1) as u64);
        let last = turns.count.saturating_sub(before).clamp(1, per_cell);
        n_turns = n_turns.saturating_sub(per_cell).saturating_add(last);
    }
    let sum = |of: fn(&TurnCell) -> u64| cells.iter().map(of).fold(0, u64::saturating_add);
    let communication = cells.iter().map(|cell| cell.communication_ns);
    let communication: Option<Vec<u64>> = communication.collect();
    let sums = TurnCell {
        start_ns: cells.first().map_or(0, |cell| cell.start_ns),
        end_ns: cells.last().map_or(0, |cell| cell.end_ns),
        total_ns: sum(|cell| cell.total_ns),
        communication_ns: communication.map(|all| all.into_iter().fold(0, u64::saturating_add)),
        failed_ns: sum(|cell| cell.failed_ns),
        is_warm_up: cells.iter().any(|cell| cell.is_warm_up),
    };
    Cell { n_turns, sums }
}

fn each(rows: &[Row], per_cell: u32) -> Vec<TurnSpread> {
    let n_cells = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let column = |at: usize| {
        let of_rows = rows.iter();
        of_rows.filter_map(move |row| Some((row.place, row.cells.get(at)?)))
    };
    let spread = |(at, first): (usize, u64)| {
        let durations: Vec<(u32, u64)> =
            column(at).map(|(place, cell)| (place, cell.mean_ns())).collect();
        let own: Vec<(u32, u64)> =
            column(at).filter_map(|(place, cell)| Some((place, cell.own_ns()?))).collect();
        Some(TurnSpread {
            first,
            is_warm_up: column(at).any(|(_, cell)| cell.sums.is_warm_up),
            durations: over_ranks(&durations)?,
            own: over_ranks(&own),
        })
    };
    let firsts = (0_u64..).map(|at| at.saturating_mul(per_cell.into()));
    (0..n_cells).zip(firsts).filter_map(spread).collect()
}

fn heat_map(rows: &[Row]) -> HeatMap {
    let n_cells = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let values = |of: fn(&Cell) -> Option<u64>| -> Vec<Option<u64>> {
        let of_row = |row: &Row| {
            let cells = (0..n_cells).map(|at| row.cells.get(at).and_then(of));
            cells.collect::<Vec<_>>()
        };
        rows.iter().flat_map(of_row).collect()
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

    /// Turns one after the other, each with its time in collectives.
    fn rank(per_cell: u32, count: u64, cells: &[(u64, Option<u64>)]) -> RankSummary {
        let mut end_ns = 0;
        let cells = cells.iter().map(|&(total_ns, communication_ns)| {
            let start_ns = end_ns;
            end_ns += total_ns;
            TurnCell {
                start_ns,
                end_ns,
                total_ns,
                communication_ns,
                failed_ns: 0,
                is_warm_up: start_ns == 0,
            }
        });
        let steps = TurnSums {
            count,
            per_cell,
            cells: cells.collect(),
            median_ns: Some(11),
            ..TurnSums::default()
        };
        RankSummary { steps: Some(steps), ..RankSummary::default() }
    }

    fn steps(ranks: &[RankSummary]) -> Option<TurnsOverRanks> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        turns(&places, |rank| rank.steps.as_ref())
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
        // |-- work 3 --|all_reduce 2|-- barrier 20, fails --x-- work 5 --|      two turns like this in a cell
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
        // rank 1   |--20--|--24--|       ►   |10  |12  |        four turns in two cells
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
        // Three turns of 10 in cells of two: |--20--|10|
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
