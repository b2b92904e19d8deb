//! What did each rank do between the collectives that all ranks share?

use super::own_time::OwnTime;
use super::shared_calls::{Matched, SharedCalls, weight};
use super::waiting::matched_calls;
use crate::intervals::Interval;
use crate::job::{RankSummary, TurnSums};
use crate::stats::float;

/// With fewer intervals it is not known what is chance.
const MIN_INTERVALS: usize = 6;

/// Parts of the time that are compared with each other: who is slow is so in all of them.
const N_PARTS: usize = 3;

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
/// are left out, and so is communication on the host that is not matched (messages between two ranks): nobody knows what of it is waiting. A
/// rank that has not half as many calls as another (it was killed) is not compared, and the others are within the calls that all of them
/// have. `None` when that leaves fewer than [`MIN_INTERVALS`], when calls failed, or when no collective is of all ranks.
pub(super) fn between_calls(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
) -> Option<Vec<OwnTime>> {
    let mut all = shared.iter().flat_map(|one| &one.having);
    if all.any(|(_, sums)| sums.n_failed > 0) {
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
    let outside = OutsideWork::of(places.len(), shared);
    let each: Vec<[Part; N_PARTS]> = ranks
        .iter()
        .zip(&ends)
        .map(|(rank, ends)| parts(ends, rank.place, &outside))
        .collect();
    let errors = errors_ns(&each);
    let measured = ranks.iter().zip(&each).zip(errors);
    let measured = measured.map(|((rank, parts), error_ns)| {
        let sum = |figure: fn(&Part) -> u64| parts.iter().map(figure).fold(0, u64::saturating_add);
        let duration_ns = sum(|part| part.length_ns).saturating_sub(sum(|part| part.elsewhere_ns));
        OwnTime {
            place: rank.place,
            duration_ns,
            waiting_ns: Some(sum(|part| part.waiting_ns).min(duration_ns)),
            error_ns: Some(error_ns),
        }
    });
    Some(measured.collect())
}

/// One rank in a part of the time.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "units")]
struct Part {
    length_ns: u64,
    waiting_ns: u64,
    elsewhere_ns: u64,
}

impl Part {
    /// Below zero where calls that are not looked at waited less than those that are.
    fn own_ns(&self) -> f64 {
        float(self.length_ns) - float(self.waiting_ns) - float(self.elsewhere_ns)
    }
}

/// The calls of each rank of the collective with the most, of those that have all ranks with any.
fn of_all_ranks<'a>(shared: &'a [SharedCalls<'a>]) -> Option<Vec<&'a Matched<'a>>> {
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
    let ranks: Vec<&Matched<'a>> = long.collect();
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

/// When what is nobody's own work began, and how long it was, by place.
struct OutsideWork {
    waiting: Vec<Vec<(u64, u64)>>,
    elsewhere: Vec<Vec<(u64, u64)>>,
}

impl OutsideWork {
    fn of(n_places: usize, shared: &[SharedCalls<'_>]) -> Self {
        let mut all = Self {
            waiting: vec![Vec::new(); n_places],
            elsewhere: vec![Vec::new(); n_places],
        };
        matched_calls(shared, |call| {
            if let Some(of_rank) = all.waiting.get_mut(call.place as usize) {
                of_rank.push((call.time.start_ns, call.rank.of_all(call.waiting_ns)));
            }
        });
        let of_host = shared
            .iter()
            .filter(|one| !one.is_start_up() && !one.is_device);
        for one in of_host {
            let is_matched = |place: u32| one.is_matched() && one.places().any(|at| at == place);
            for (place, sums) in one.having.iter().filter(|(place, _)| !is_matched(*place)) {
                if let Some(of_rank) = all.elsewhere.get_mut(*place as usize) {
                    let weight = weight(sums.total_ns, &sums.calls, sums.stride);
                    let each = sums.calls.iter();
                    of_rank.extend(each.map(|call| (call.start_ns, weight.of(call.length_ns()))));
                }
            }
        }
        all
    }
}

/// The time between ends of calls, which are in order, in parts with equally many of them.
fn parts(ends: &[u64], place: u32, outside: &OutsideWork) -> [Part; N_PARTS] {
    let n_intervals = ends.len() - 1;
    std::array::from_fn(|at| {
        let end = |part: usize| ends[n_intervals * part / N_PARTS];
        let time = Interval {
            start_ns: end(at),
            end_ns: end(at + 1),
        };
        let within = |all: &[Vec<(u64, u64)>]| {
            let of_rank = all.get(place as usize).into_iter().flatten();
            let begun =
                of_rank.filter(|(start_ns, _)| (time.start_ns..time.end_ns).contains(start_ns));
            begun.map(|(_, ns)| *ns).fold(0, u64::saturating_add)
        };
        Part {
            length_ns: time.length_ns(),
            waiting_ns: within(&outside.waiting),
            elsewhere_ns: within(&outside.elsewhere),
        }
    })
}

/// Standard errors of the ranks' sums, by the scatter of what each takes longer than the median rank in the same part: √n σ. Not of single
/// intervals: work that is done once a step is no chance where a step has several calls.
fn errors_ns(each: &[[Part; N_PARTS]]) -> Vec<f64> {
    let median_ns = |at: usize| {
        let mut own_ns: Vec<f64> = each.iter().map(|parts| parts[at].own_ns()).collect();
        own_ns.sort_by(f64::total_cmp);
        own_ns
            .get((own_ns.len().max(1) - 1) / 2)
            .copied()
            .unwrap_or_default()
    };
    let medians: [f64; N_PARTS] = std::array::from_fn(median_ns);
    let n_parts = float(N_PARTS as u64);
    let error = |parts: &[Part; N_PARTS]| {
        let longer: [f64; N_PARTS] = std::array::from_fn(|at| parts[at].own_ns() - medians[at]);
        let mean = longer.iter().sum::<f64>() / n_parts;
        let squares = longer.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>();
        (n_parts * squares / (n_parts - 1.0)).sqrt()
    };
    each.iter().map(error).collect()
}
