//! Heat maps of a page: rank by cell, as columns.

use marey_analysis::ranks::{IterationSpread, IterationsOverRanks, JobAnswers};
use serde::Serialize;

use super::chosen;
use crate::html::columns::Columns;

/// Values are multiples of a unit that leaves them so many bits: one part in a million of the longest.
const BITS: u32 = 20;
/// Rows of a map at most.
const MAX_ROWS: usize = 1_024;

/// A heat map but for its columns of `places.len() · n_cells` values: durations, then, where they are known, own times. 0 where nothing is known, else
/// one more than the time in units.
#[derive(Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(super) struct DrawnMap {
    /// Places of the ranks that are its rows.
    places: Vec<u32>,
    n_cells: u32,
    unit_ns: u64,
    has_own: bool,
    /// Ranks that are not in it, for lack of room.
    n_rows_left_out: usize,
    /// Iterations that a cell is the mean of.
    per_cell: u32,
    /// Fewest and most iterations of a rank, where ranks differ.
    counts_differ: Option<(u64, u64)>,
    /// What all ranks have of each column.
    columns: Vec<MapColumn>,
}

/// The ranks of a column together.
#[derive(Debug, PartialEq, Serialize, schemars::JsonSchema)]
struct MapColumn {
    first: u64,
    is_warm_up: bool,
    median_ns: f64,
    own_median_ns: Option<f64>,
}

/// The map with rows for at most `room` cells.
pub(super) fn map(
    job: &JobAnswers,
    iterations: &IterationsOverRanks,
    room: usize,
    columns: &mut Columns,
) -> DrawnMap {
    let all = &iterations.heat_map;
    let n_cells = all.n_cells as usize;
    let rows = (room / n_cells.max(1)).clamp(1, MAX_ROWS);
    let places = chosen(job, &all.places, rows);
    let longest = all.durations_ns.iter().flatten().max().copied();
    let bits = u64::BITS - longest.unwrap_or(0).leading_zeros();
    let unit_ns = 1 << bits.saturating_sub(BITS);
    let is_kept = |place: &u32| places.binary_search(place).is_ok();
    let by_place = all.places.iter().enumerate();
    let kept: Vec<usize> =
        by_place.filter(|(_, place)| is_kept(place)).map(|(row, _)| row).collect();
    // Of a row that the answers do not have nothing is known.
    let mut add = |values: &[Option<u64>]| {
        let places = kept.iter().flat_map(|row| row * n_cells..(row + 1) * n_cells);
        let known = places.map(|at| values.get(at).copied().flatten());
        columns.add_all(known.map(|ns| ns.map_or(0, |ns| ns / unit_ns + 1)));
    };
    add(&all.durations_ns);
    let has_own = !all.own_ns.is_empty();
    if has_own {
        add(&all.own_ns);
    }
    DrawnMap {
        n_rows_left_out: all.places.len().saturating_sub(places.len()),
        places,
        n_cells: all.n_cells,
        unit_ns,
        has_own,
        per_cell: iterations.per_cell,
        counts_differ: iterations.counts_differ,
        columns: iterations.each.iter().take(n_cells).map(column).collect(),
    }
}

fn column(spread: &IterationSpread) -> MapColumn {
    MapColumn {
        first: spread.first,
        is_warm_up: spread.is_warm_up,
        median_ns: spread.durations.median_ns,
        own_median_ns: spread.own.as_ref().map(|own| own.median_ns),
    }
}
