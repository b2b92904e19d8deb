//! Turns that follow each other, put together in cells.

use super::{RankSummary, TurnCell, TurnSums};
use crate::intervals::{Interval, length_within, union};
use crate::stats::percentile;

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

/// One turn whose duration is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) time: Interval,
    /// Also where `time` begins at the start of the run and is cut there.
    pub(super) duration_ns: u64,
    pub(super) is_warm_up: bool,
}

/// Turns in order of time; `None` when there are none. `communication` is `None` where no collective was recorded.
pub(super) fn turn_sums(turns: &[Turn], communication: Option<&Communication>) -> Option<TurnSums> {
    if turns.is_empty() {
        return None;
    }
    let per_cell = turns_of_a_cell(turns.len());
    let length = |turn: &Turn| turn.duration_ns;
    let steady = turns.iter().filter(|turn| !turn.is_warm_up);
    let mut steady: Vec<u64> = steady.map(length).collect();
    steady.sort_unstable();
    Some(TurnSums {
        count: turns.len() as u64,
        n_warm_up: (turns.len() - steady.len()) as u64,
        total_ns: turns.iter().map(length).fold(0, u64::saturating_add),
        median_ns: percentile(&steady, 0.5),
        per_cell: u32::try_from(per_cell).unwrap_or(u32::MAX),
        cells: turns.chunks(per_cell).map(|turns| cell(turns, communication)).collect(),
    })
}

/// The least power of two with which all fit.
fn turns_of_a_cell(n_turns: usize) -> usize {
    let mut per_cell = 1;
    while n_turns.div_ceil(per_cell) > RankSummary::MAX_CELLS {
        per_cell *= 2;
    }
    per_cell
}

fn cell(turns: &[Turn], communication: Option<&Communication>) -> TurnCell {
    let times: Vec<Interval> = turns.iter().map(|turn| turn.time).collect();
    let lengths = turns.iter().map(|turn| turn.duration_ns);
    let total_ns = lengths.fold(0, u64::saturating_add);
    let turned = union(times.clone());
    let within = |open: &[Interval]| {
        let lengths = turned.iter().map(|time| length_within(*time, open));
        lengths.fold(0, u64::saturating_add)
    };
    let succeeded_ns = communication.map(|open| within(&open.succeeded));
    let any_ns = communication.map_or(0, |open| within(&open.any));
    TurnCell {
        start_ns: times.iter().map(|time| time.start_ns).min().unwrap_or(0),
        end_ns: times.iter().map(|time| time.end_ns).max().unwrap_or(0),
        total_ns,
        communication_ns: succeeded_ns,
        failed_ns: any_ns.saturating_sub(succeeded_ns.unwrap_or_default()),
        is_warm_up: turns.iter().any(|turn| turn.is_warm_up),
    }
}
