//! What did each rank do between the collectives that all ranks share?

use super::shared_calls::{Matched, SharedCalls};
use super::stragglers::Measured;
use super::waiting::matched_calls;
use crate::job::{RankSummary, TurnSums};
use crate::stats::{float, percentile, sample_std_dev};

/// With fewer intervals the scatter of a rank is not known.
const MIN_INTERVALS: usize = 6;

/// Each rank's time from one shared call to another, and what it waits in it: all work that the others can wait for, wherever in the program
/// it is done. All ranks leave a shared call together, so that the time from the end of one to the end of the next is as long on each.
///
/// ```text
///            call 0                                 call 1
/// rank 0   |---------|--step 4--|-- all_reduce, waits 14 --|2|     own 6
/// rank 1       |-----|--load 12--|--step 4--| all_reduce   |2|     own 18: slow, not by its steps
///                    |-------------- interval 0, 20 ---------|
/// ```
///
/// The collective is the one with the most calls of those that all ranks have. Intervals that begin before the end of the warm-up of a rank
/// are left out. A rank that has not half as many calls as another (it was killed) is not compared, and the others are within the calls
/// that all of them have. `None` when that leaves fewer than [`MIN_INTERVALS`], when calls failed, or when no collective is of all ranks.
pub(super) fn between_calls(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
) -> Option<Vec<Measured>> {
    let failed = shared.iter().flat_map(|one| &one.having);
    if failed.into_iter().any(|(_, sums)| sums.n_failed > 0) {
        return None;
    }
    let ranks = of_all_ranks(shared)?;
    let n_calls = ranks.iter().map(|rank| rank.calls().len()).min()?;
    let mut ends: Vec<Vec<u64>> = ranks
        .iter()
        .map(|rank| rank.calls().take(n_calls).map(|call| call.end_ns).collect())
        .collect();
    let warm_up = ranks.iter().zip(&ends).map(|(rank, ends)| {
        let warm_until_ns = places
            .get(rank.place as usize)
            .map(|one| warm_until_ns(one));
        ends.partition_point(|end| Some(*end) < warm_until_ns)
    });
    let warm_up = warm_up.max()?;
    if n_calls.saturating_sub(warm_up) <= MIN_INTERVALS {
        return None;
    }
    for of_rank in &mut ends {
        of_rank.drain(..warm_up);
    }
    let waits = waits(places.len(), shared);
    let each: Vec<Vec<Piece>> = ranks
        .iter()
        .zip(&ends)
        .map(|(rank, ends)| {
            pieces(
                ends,
                waits.get(rank.place as usize).map_or(&[], Vec::as_slice),
            )
        })
        .collect();
    let errors = errors_ns(&each);
    let measured = ranks.iter().zip(&each).zip(errors);
    let measured = measured.map(|((rank, pieces), error_ns)| Measured {
        place: rank.place,
        duration_ns: sum(pieces, |piece| piece.length_ns),
        waiting_ns: Some(sum(pieces, |piece| piece.waiting_ns)),
        error_ns,
    });
    Some(measured.collect())
}

/// One rank between two calls.
#[derive(Clone, Copy)]
struct Piece {
    length_ns: u64,
    waiting_ns: u64,
}

impl Piece {
    fn own_ns(&self) -> u64 {
        self.length_ns - self.waiting_ns
    }
}

/// The calls of each rank of the collective with the most, of those that have all ranks with any.
fn of_all_ranks<'a>(shared: &'a [SharedCalls<'a>]) -> Option<Vec<Matched<'a>>> {
    let in_work = || {
        shared
            .iter()
            .filter(|one| one.is_matched() && !one.is_start_up())
    };
    let mut places: Vec<u32> = in_work().flat_map(SharedCalls::places).collect();
    places.sort_unstable();
    places.dedup();
    let of_all = in_work().filter(|one| one.is_meeting() && one.matched.len() == places.len());
    let most = |one: &SharedCalls<'_>| one.matched.iter().map(|rank| rank.calls().len()).max();
    let chosen = of_all.max_by_key(|one| most(one))?;
    let half = most(chosen)?.div_ceil(2);
    let long = chosen
        .matched
        .iter()
        .filter(|rank| rank.calls().len() >= half);
    let ranks: Vec<Matched<'a>> = long.copied().collect();
    (ranks.len() > 1).then_some(ranks)
}

/// When the last turn of the warm-up of a rank ended; 0 without one, or when all turns are warm-up.
fn warm_until_ns(rank: &RankSummary) -> u64 {
    let of = |turns: &TurnSums| {
        let has_steady = turns.cells.iter().any(|cell| !cell.is_warm_up);
        let warm = turns
            .cells
            .iter()
            .filter(|cell| cell.is_warm_up && has_steady);
        warm.map(|cell| cell.end_ns).max()
    };
    let kinds = [&rank.steps, &rank.blocks];
    let ends = kinds.into_iter().flatten().filter_map(of);
    ends.max().unwrap_or_default()
}

/// When each rank began to wait, and how long: a call that is looked at stands for those that are not.
fn waits(n_places: usize, shared: &[SharedCalls<'_>]) -> Vec<Vec<(u64, u64)>> {
    let mut waits = vec![Vec::new(); n_places];
    matched_calls(shared, |call| {
        if let Some(of_rank) = waits.get_mut(call.place as usize) {
            let all_ns = call.waiting_ns.saturating_mul(call.of.stride.into());
            of_rank.push((call.time.start_ns, all_ns));
        }
    });
    waits
}

/// The times between ends of calls, which are in order, with the waits that begin in them.
fn pieces(ends: &[u64], waits: &[(u64, u64)]) -> Vec<Piece> {
    let lengths = ends.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let mut pieces: Vec<Piece> = lengths
        .map(|length_ns| Piece {
            length_ns,
            waiting_ns: 0,
        })
        .collect();
    for (start_ns, waiting_ns) in waits {
        let after = ends.partition_point(|end| end <= start_ns);
        if let Some(piece) = after.checked_sub(1).and_then(|at| pieces.get_mut(at)) {
            let all_ns = piece.waiting_ns.saturating_add(*waiting_ns);
            piece.waiting_ns = all_ns.min(piece.length_ns);
        }
    }
    pieces
}

/// Standard errors of the ranks' sums, by the scatter of what each takes longer than the median rank in the same interval: √n σ.
fn errors_ns(each: &[Vec<Piece>]) -> Vec<Option<f64>> {
    let n_pieces = each.first().map_or(0, Vec::len);
    let median_ns = |at: usize| {
        let mut own_ns: Vec<u64> = each.iter().map(|pieces| pieces[at].own_ns()).collect();
        own_ns.sort_unstable();
        percentile(&own_ns, 0.5).unwrap_or_default()
    };
    let medians: Vec<u64> = (0..n_pieces).map(median_ns).collect();
    let most_ns = medians.iter().copied().max().unwrap_or_default();
    let error = |pieces: &Vec<Piece>| {
        // All by the same amount more than the difference: nothing is below zero.
        let longer = pieces.iter().zip(&medians);
        let longer =
            longer.map(|(piece, median_ns)| piece.own_ns().saturating_add(most_ns - median_ns));
        let deviation_ns = sample_std_dev(&longer.collect::<Vec<u64>>())?;
        Some(float(n_pieces as u64).sqrt() * deviation_ns)
    };
    each.iter().map(error).collect()
}

fn sum(pieces: &[Piece], figure: fn(&Piece) -> u64) -> u64 {
    pieces.iter().map(figure).fold(0, u64::saturating_add)
}
