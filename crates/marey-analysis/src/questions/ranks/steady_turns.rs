//! How long did each rank work in a turn that is no warm-up?

use super::shared_calls::{SharedCalls, used_in_work};
use super::stragglers::OwnTime;
use super::turns::{Cell, Row};
use super::waiting::{RankCall, matched_calls};
use crate::intervals::Interval;
use crate::job::RankSummary;
use crate::stats::{float, ratio, sample_std_dev, whole};

/// What collectives took within a rank's steady turns.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "units")]
struct InTurns {
    total_ns: u64,
    matched_ns: u64,
    waiting_ns: u64,
}

impl InTurns {
    /// The part of matched communication that is waiting, taken for that of all; `None` unless half of all was matched.
    fn waiting_ratio(&self) -> Option<f64> {
        let is_known = self.matched_ns > 0 && self.matched_ns >= self.total_ns / 2;
        is_known.then(|| ratio(self.waiting_ns.into(), self.matched_ns.into()))
    }
}

/// The median of each rank's steady turns, without what it waits in them.
pub(super) fn of_turns(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    rows: &[Row],
) -> Vec<OwnTime> {
    let in_turns = in_turns(places, shared, rows);
    let each = rows.iter().zip(in_turns);
    each.map(|(row, in_turns)| of_row(row, &in_turns)).collect()
}

/// The median turn, and what it waits.
fn of_row(row: &Row, in_turns: &InTurns) -> OwnTime {
    let mut turns: Vec<(u64, u64)> = steady(row)
        .map(|cell| (worked_ns(cell), waiting_of(cell, in_turns).unwrap_or_default()))
        .collect();
    let is_known = steady(row).all(|cell| waiting_of(cell, in_turns).is_some());
    // The turn whose own time is in the middle, with its own waiting.
    turns.sort_by_key(|(duration_ns, waiting_ns)| {
        (duration_ns.saturating_sub(*waiting_ns), *duration_ns)
    });
    let middle = turns.get(turns.len().saturating_sub(1) / 2);
    let (duration_ns, waiting_ns) = middle.copied().unwrap_or_default();
    let own_ns = |turn: &(u64, u64)| turn.0.saturating_sub(turn.1);
    OwnTime {
        place: row.place,
        duration_ns,
        waiting_ns: is_known.then_some(waiting_ns),
        error_ns: error_of_median_ns(&turns.iter().map(own_ns).collect::<Vec<u64>>()),
        late: None,
    }
}

/// What a turn took without the time in collectives that failed, which is nobody's work.
fn worked_ns(cell: &Cell) -> u64 {
    cell.mean_ns().saturating_sub(cell.failed_mean_ns())
}

/// Standard error of the median of values with normal noise: √(π/2) σ/√n. `None` of fewer than two.
fn error_of_median_ns(values: &[u64]) -> Option<f64> {
    let n_values = float(values.len() as u64);
    Some((std::f64::consts::FRAC_PI_2 / n_values).sqrt() * sample_std_dev(values)?)
}

/// What a turn of the cell waits, on average; `None` when not known.
fn waiting_of(cell: &Cell, in_turns: &InTurns) -> Option<u64> {
    let communication_ns = cell.communication_mean_ns()?.min(worked_ns(cell));
    if communication_ns == 0 {
        return Some(0);
    }
    let waiting_ns = float(communication_ns) * in_turns.waiting_ratio()?;
    Some(whole(waiting_ns.round()).min(communication_ns))
}

/// Cells without a warm-up; all of them, where each has one.
fn steady(row: &Row) -> impl Iterator<Item = &Cell> {
    let is_all_warm_up = row.cells.iter().all(|cell| cell.sums.is_warm_up);
    let cells = row.cells.iter();
    cells.filter(move |cell| is_all_warm_up || !cell.sums.is_warm_up)
}

fn in_turns(places: &[&RankSummary], shared: &[SharedCalls<'_>], rows: &[Row]) -> Vec<InTurns> {
    let mut row_of_place: Vec<Option<usize>> = vec![None; places.len()];
    for (at, row) in rows.iter().enumerate() {
        if let Some(of_place) = row_of_place.get_mut(row.place as usize) {
            *of_place = Some(at);
        }
    }
    let times: Vec<Vec<Interval>> = rows.iter().map(steady_times).collect();
    let mut found = vec![InTurns::default(); rows.len()];
    for (at, row) in rows.iter().enumerate() {
        let Some(rank) = places.get(row.place as usize) else {
            continue;
        };
        for sums in used_in_work(rank) {
            let within = sums.calls.iter().filter(|call| is_within(call, &times[at]));
            let all_ns = within.map(Interval::length_ns).fold(0, u64::saturating_add);
            found[at].total_ns = found[at].total_ns.saturating_add(all_ns);
        }
    }
    matched_calls(shared, |call: RankCall<'_>| {
        let at = row_of_place.get(call.place as usize).copied().flatten();
        let Some(at) = at.filter(|at| is_within(&call.time, &times[*at])) else {
            return;
        };
        let sums = &mut found[at];
        sums.matched_ns = sums.matched_ns.saturating_add(call.time.length_ns());
        sums.waiting_ns = sums.waiting_ns.saturating_add(call.waiting_ns);
    });
    found
}

fn steady_times(row: &Row) -> Vec<Interval> {
    let time = |cell: &Cell| Interval { start_ns: cell.sums.start_ns, end_ns: cell.sums.end_ns };
    steady(row).map(time).collect()
}

/// The call begins in one of the times, which are in order.
fn is_within(call: &Interval, times: &[Interval]) -> bool {
    let after = times.partition_point(|time| time.start_ns <= call.start_ns);
    let last = after.checked_sub(1).and_then(|at| times.get(at));
    last.is_some_and(|time| call.start_ns < time.end_ns)
}
