//! How long did each rank work in an iteration that is no warm-up?

use super::iterations::{Cell, Row};
use super::shared_calls::{SharedCalls, in_work, used_in_work};
use super::stragglers::OwnTime;
use crate::intervals::Interval;
use crate::job::RankSummary;
use crate::stats::{float, ratio, sample_std_dev, sum, whole};

/// The iteration of each rank whose own time is in the middle of its steady iterations, and what it waits.
pub(super) fn of_iterations(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    rows: &[Row],
) -> Vec<OwnTime> {
    let of_row = |row: &Row| {
        let rank = places.get(row.place as usize)?;
        let waiting_ratio = waiting_ratio(row, rank, shared);
        // Own time, duration, waiting.
        let iteration = |cell: &Cell| {
            let (duration_ns, waiting_ns) = (worked_ns(cell), waiting_of(cell, waiting_ratio));
            let own_ns = duration_ns.saturating_sub(waiting_ns.unwrap_or_default());
            (own_ns, duration_ns, waiting_ns)
        };
        let mut iterations: Vec<(u64, u64, Option<u64>)> = steady(row).map(iteration).collect();
        iterations.sort_unstable();
        let is_known = iterations.iter().all(|(.., waiting_ns)| waiting_ns.is_some());
        let (_, duration_ns, waiting_ns) = *iterations.get(iterations.len().checked_sub(1)? / 2)?;
        let own_ns: Vec<u64> = iterations.iter().map(|(own_ns, ..)| *own_ns).collect();
        Some(OwnTime {
            place: row.place,
            duration_ns,
            waiting_ns: waiting_ns.filter(|_| is_known),
            error_ns: error_of_median_ns(&own_ns),
            late: None,
        })
    };
    rows.iter().filter_map(of_row).collect()
}

/// What an iteration took without the time in collectives that failed, which is nobody's work.
fn worked_ns(cell: &Cell) -> u64 {
    cell.mean_ns().saturating_sub(cell.failed_mean_ns())
}

/// Standard error of the median of values with normal noise: √(π/2) σ/√n. `None` of fewer than two.
fn error_of_median_ns(values: &[u64]) -> Option<f64> {
    let n_values = float(values.len() as u64);
    Some((std::f64::consts::FRAC_PI_2 / n_values).sqrt() * sample_std_dev(values)?)
}

/// What an iteration of the cell waits, on average; `None` when not known.
fn waiting_of(cell: &Cell, waiting_ratio: Option<f64>) -> Option<u64> {
    let communication_ns = cell.communication_mean_ns()?.min(worked_ns(cell));
    if communication_ns == 0 {
        return Some(0);
    }
    let waiting_ns = float(communication_ns) * waiting_ratio?;
    Some(whole(waiting_ns.round()).min(communication_ns))
}

/// Cells without a warm-up; all of them, where each has one.
fn steady(row: &Row) -> impl Iterator<Item = &Cell> {
    let is_all_warm_up = row.cells.iter().all(|cell| cell.sums.is_warm_up);
    let cells = row.cells.iter();
    cells.filter(move |cell| is_all_warm_up || !cell.sums.is_warm_up)
}

/// The part of matched communication in a rank's steady iterations that is waiting, taken for that of all; `None` unless half of all was matched.
fn waiting_ratio(row: &Row, rank: &RankSummary, shared: &[SharedCalls<'_>]) -> Option<f64> {
    let times: Vec<Interval> = steady(row).map(|cell| cell.sums.time()).collect();
    // It begins in one of the times, which are in order.
    let is_within = |call: &Interval| {
        let after = times.partition_point(|time| time.start_ns <= call.start_ns);
        let last = after.checked_sub(1).and_then(|at| times.get(at));
        last.is_some_and(|time| call.start_ns < time.end_ns)
    };
    let all = used_in_work(rank).flat_map(|one| &one.calls).filter(|call| is_within(call));
    let all_ns = sum(all.map(Interval::length_ns));
    let matched = || {
        let calls = in_work(shared).flat_map(|one| one.calls_of(row.place));
        calls.filter(|call| is_within(&call.time))
    };
    let matched_ns = sum(matched().map(|call| call.time.length_ns()));
    let waiting_ns = sum(matched().map(|call| call.waiting_ns));
    let is_known = matched_ns > 0 && matched_ns >= all_ns / 2;
    is_known.then(|| ratio(waiting_ns.into(), matched_ns.into()))
}
