//! Heat maps of a page: rank by cell, as columns.

use marey_analysis::ranks::{HeatMap, JobAnswers};
use serde::Serialize;

use super::chosen;
use crate::html::columns::Columns;

/// Values are multiples of a unit that leaves them so many bits: one part in a million of the longest.
const BITS: u32 = 20;
/// Rows of a map at most.
const MAX_ROWS: usize = 1_024;

/// A heat map but for its column of `places.len() · n_cells` values: 0 where nothing is known, else one more than the duration in units.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Map {
    /// Places of the ranks that are its rows.
    places: Vec<u32>,
    n_cells: u32,
    unit_ns: u64,
    /// Ranks that are not in it, for lack of room.
    n_rows_left_out: usize,
}

/// The map with rows for at most `room` cells.
pub(super) fn map(job: &JobAnswers, all: &HeatMap, room: usize, columns: &mut Columns) -> Map {
    let n_cells = all.n_cells as usize;
    let rows = (room / n_cells.max(1)).clamp(1, MAX_ROWS);
    let places = chosen(job, &all.places, rows);
    let longest = all.durations_ns.iter().flatten().max().copied();
    let bits = u64::BITS - longest.unwrap_or(0).leading_zeros();
    let unit_ns = 1 << bits.saturating_sub(BITS);
    let shown = |ns: &Option<u64>| ns.map_or(0, |ns| ns / unit_ns + 1);
    let is_kept = |place: &u32| places.binary_search(place).is_ok();
    let by_place = all.places.iter().enumerate();
    let kept = by_place.filter(|(_, place)| is_kept(place));
    // A row that the answers do not have is one of which nothing is known.
    let cells = kept.flat_map(|(row, _)| (row * n_cells..(row + 1) * n_cells).map(cell(all)));
    columns.add_all(cells.map(|ns| shown(&ns)));
    Map {
        n_rows_left_out: all.places.len().saturating_sub(places.len()),
        places,
        n_cells: all.n_cells,
        unit_ns,
    }
}

fn cell(all: &HeatMap) -> impl Fn(usize) -> Option<u64> {
    |at| all.durations_ns.get(at).copied().flatten()
}
