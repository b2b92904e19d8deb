//! What did each rank do between the collectives that all ranks share?

use super::shared_calls::{Matched, SharedCalls};
use super::stragglers::{Late, OwnTime};
use super::waiting::matched_calls;
use crate::job::{RankSummary, TurnSums};
use crate::stats::float;

/// With fewer intervals it is not known what is chance.
const MIN_INTERVALS: usize = 6;

/// Parts of the time that are compared with each other, to see by how much a rank's own time scatters.
const N_PARTS: usize = 12;

/// So many parts together are a coarse one: work that comes back seldom, a decode after each clip, is in each of these.
const N_TOGETHER: usize = 4;

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
    let n_calls = ranks.iter().map(|rank| rank.calls.len()).min()?;
    let mut ends: Vec<Vec<u64>> = ranks
        .iter()
        .map(|rank| rank.calls.iter().take(n_calls).map(|call| call.end_ns).collect())
        .collect();
    let warm_up = ranks.iter().zip(&ends).map(|(rank, ends)| {
        let warm_until_ns = places.get(rank.place as usize).map(|one| warm_until_ns(one));
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
    let each: Vec<[Part; N_PARTS]> =
        ranks.iter().zip(&ends).map(|(rank, ends)| parts(ends, rank.place, &outside)).collect();
    let errors = errors_ns(&each, n_calls - warm_up - 1);
    let is_fine = n_calls - warm_up > 2 * N_PARTS;
    let measured = ranks.iter().zip(&each).zip(ends.iter().zip(errors));
    let measured = measured.map(|((rank, parts), (ends, error_ns))| {
        let sum = |figure: fn(&Part) -> u64| parts.iter().map(figure).fold(0, u64::saturating_add);
        let duration_ns = sum(|part| part.length_ns).saturating_sub(sum(|part| part.elsewhere_ns));
        OwnTime {
            place: rank.place,
            duration_ns,
            waiting_ns: Some(sum(|part| part.waiting_ns).min(duration_ns)),
            error_ns: Some(error_ns),
            late: is_fine.then(|| late(parts, &each, ends)).flatten(),
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

/// Fewer parts than this do not show that a rank became slow: a quarter of the time.
const MIN_LATE: usize = 3;

/// Since when a rank takes longer: from there on every part by more beyond the median rank than every part before, and in the mean by more
/// than three standard deviations of those.
///
/// ```text
/// beyond the median   0 1 0 1 1 0 0 1 0 | 9 8 9
/// ```
fn late(parts: &[Part; N_PARTS], each: &[[Part; N_PARTS]], ends: &[u64]) -> Option<Late> {
    let medians: Vec<f64> =
        (0..N_PARTS).map(|at| median(each.iter().map(|parts| parts[at].own_ns()))).collect();
    let beyond: Vec<f64> =
        parts.iter().zip(&medians).map(|(part, median_ns)| part.own_ns() - median_ns).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / float(values.len() as u64);
    let is_onset = |at: &usize| {
        let (before, after) = beyond.split_at(*at);
        let usual = mean(before);
        let squares: f64 = before.iter().map(|ns| (ns - usual).powi(2)).sum();
        let deviation = (squares / float(before.len() as u64 - 1)).sqrt();
        let most = before.iter().copied().fold(f64::MIN, f64::max);
        after.iter().all(|ns| *ns > most) && mean(after) - usual > 3.0 * deviation
    };
    let apart = |at: &usize| mean(&beyond[*at..]) - mean(&beyond[..*at]);
    let onsets = (MIN_LATE..=N_PARTS - MIN_LATE).filter(is_onset);
    let onset = onsets.max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    let usual_ns = mean(&medians[onset..]).max(1.0);
    Some(Late {
        since_ns: ends[(ends.len() - 1) * onset / N_PARTS],
        score: mean(&beyond[onset..]) / usual_ns,
    })
}

/// The lower of the middle two.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// The calls of each rank of the collective with the most, of those that have all ranks with any.
fn of_all_ranks<'a>(shared: &'a [SharedCalls<'a>]) -> Option<Vec<&'a Matched<'a>>> {
    let in_work = || shared.iter().filter(|one| one.is_matched() && !one.is_start_up());
    let mut places: Vec<u32> = in_work().flat_map(SharedCalls::places).collect();
    places.sort_unstable();
    places.dedup();
    let of_all = in_work().filter(|one| one.is_meeting() && one.matched.len() == places.len());
    let most = |one: &SharedCalls<'_>| one.matched.iter().map(|rank| rank.calls.len()).max();
    let chosen = of_all.max_by_key(|one| most(one))?;
    let half = most(chosen)?.div_ceil(2);
    let long = chosen.matched.iter().filter(|rank| rank.calls.len() >= half);
    let ranks: Vec<&Matched<'a>> = long.collect();
    (ranks.len() > 1).then_some(ranks)
}

/// When the warm-up of a rank ended; 0 without one, or when all turns are warm-up.
fn warm_until_ns(rank: &RankSummary) -> u64 {
    let of = |turns: &TurnSums| {
        let n_warm = turns.cells.iter().take_while(|cell| cell.is_warm_up);
        let n_warm = n_warm.count();
        let has_steady = n_warm < turns.cells.len();
        turns.cells[..n_warm].last().filter(|_| has_steady).map(|cell| cell.end_ns)
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
        let mut all =
            Self { waiting: vec![Vec::new(); n_places], elsewhere: vec![Vec::new(); n_places] };
        matched_calls(shared, |call| {
            if let Some(of_rank) = all.waiting.get_mut(call.place as usize) {
                of_rank.push((call.time.start_ns, call.waiting_ns));
            }
        });
        let of_host = shared.iter().filter(|one| !one.is_start_up() && !one.is_device);
        for one in of_host {
            let is_matched = |place: u32| one.is_matched() && one.places().any(|at| at == place);
            for (place, sums) in one.having.iter().filter(|(place, _)| !is_matched(*place)) {
                if let Some(of_rank) = all.elsewhere.get_mut(*place as usize) {
                    let each = sums.calls.iter();
                    of_rank.extend(each.map(|call| (call.start_ns, call.length_ns())));
                }
            }
        }
        all
    }
}

/// The time between ends of calls, which are in order, in parts with equally many of them.
fn parts(ends: &[u64], place: u32, outside: &OutsideWork) -> [Part; N_PARTS] {
    let n_intervals = ends.len() - 1;
    let bounds: [u64; N_PARTS + 1] = std::array::from_fn(|at| ends[n_intervals * at / N_PARTS]);
    let mut parts: [Part; N_PARTS] = std::array::from_fn(|at| Part {
        length_ns: bounds[at + 1].saturating_sub(bounds[at]),
        ..Part::default()
    });
    let mut add = |all: &[Vec<(u64, u64)>], figure: fn(&mut Part) -> &mut u64| {
        for (start_ns, ns) in all.get(place as usize).into_iter().flatten() {
            let after = bounds.partition_point(|bound| bound <= start_ns);
            if let Some(part) = after.checked_sub(1).and_then(|at| parts.get_mut(at)) {
                let sum = figure(part);
                *sum = sum.saturating_add(*ns);
            }
        }
    };
    add(&outside.waiting, |part| &mut part.waiting_ns);
    add(&outside.elsewhere, |part| &mut part.elsewhere_ns);
    parts
}

/// Standard errors of the ranks' sums, by the scatter over coarse parts, or over all, whichever is smaller: work that comes back seldom is as
/// much in each coarse part, and scatters over fine ones; of a rank that is slow for most of the time it is the other way round. Fine parts
/// need two intervals.
fn errors_ns(each: &[[Part; N_PARTS]], n_intervals: usize) -> Vec<f64> {
    let coarse = errors_over(each, N_TOGETHER);
    if n_intervals < 2 * N_PARTS {
        return coarse;
    }
    let both = coarse.into_iter().zip(errors_over(each, 1));
    both.map(|(coarse, fine)| coarse.min(fine)).collect()
}

/// By what each takes longer than the median rank in the same parts: √n σ. Not of single intervals: work that is done once a step is no chance
/// where a step has several calls.
fn errors_over(each: &[[Part; N_PARTS]], n_together: usize) -> Vec<f64> {
    let own_ns: Vec<Vec<f64>> = each
        .iter()
        .map(|parts| {
            let chunks = parts.chunks(n_together);
            chunks.map(|parts| parts.iter().map(Part::own_ns).sum()).collect()
        })
        .collect();
    let median_ns = |at: usize| median(own_ns.iter().map(|of_rank| of_rank[at]));
    let medians: Vec<f64> = (0..N_PARTS / n_together).map(median_ns).collect();
    let error = |of_rank: &Vec<f64>| {
        let longer: Vec<f64> =
            of_rank.iter().zip(&medians).map(|(own_ns, median_ns)| own_ns - median_ns).collect();
        let n_parts = float(longer.len() as u64);
        let mean = longer.iter().sum::<f64>() / n_parts;
        let squares = longer.iter().map(|ns| (ns - mean).powi(2)).sum::<f64>();
        (n_parts * squares / (n_parts - 1.0)).sqrt()
    };
    own_ns.iter().map(error).collect()
}
