//! What did each rank do between the collectives that all ranks share?

use super::over_ranks::lower_median;
use super::shared_calls::{SharedCalls, in_work};
use super::stragglers::{Late, OwnTime};
use crate::intervals::Interval;
use crate::job::{IterationSums, RankSummary};
use crate::stats::{float, sum};

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
    let n_calls = ranks.iter().map(|(_, calls)| calls.len()).min()?;
    let warm_up = ranks.iter().map(|(place, calls)| {
        let warm_until_ns = places.get(*place as usize).map_or(0, |rank| warm_until_ns(rank));
        calls[..n_calls].partition_point(|call| call.end_ns < warm_until_ns)
    });
    let warm_up = warm_up.max()?;
    let n_intervals = (n_calls - warm_up).saturating_sub(1);
    if n_intervals < MIN_INTERVALS {
        return None;
    }
    let parts =
        |(place, calls): &(u32, &[Interval])| Parts::of(*place, &calls[warm_up..n_calls], shared);
    let each: Vec<Parts> = ranks.iter().map(parts).collect();
    let fine = Beyond::of(&each, 1);
    let coarse = Beyond::of(&each, N_TOGETHER);
    // Fine parts need two intervals.
    let is_fine = n_intervals >= 2 * N_PARTS;
    let measured = ranks.iter().zip(&each).enumerate().map(|(at, ((place, _), parts))| {
        let of_all = |figure: fn(&Part) -> u64| sum(parts.each.iter().map(figure));
        let duration_ns =
            of_all(|part| part.length_ns).saturating_sub(of_all(|part| part.elsewhere_ns));
        let error_ns = coarse.error_ns(at);
        OwnTime {
            place: *place,
            duration_ns,
            waiting_ns: Some(of_all(|part| part.waiting_ns).min(duration_ns)),
            error_ns: Some(if is_fine { error_ns.min(fine.error_ns(at)) } else { error_ns }),
            late: is_fine.then(|| fine.late(at, parts)).flatten(),
        }
    });
    Some(measured.collect())
}

/// The calls of each rank of the collective with the most, of those that have all ranks with any.
fn of_all_ranks<'a>(shared: &[SharedCalls<'a>]) -> Option<Vec<(u32, &'a [Interval])>> {
    let matched = || in_work(shared).filter(|one| one.is_matched());
    let mut places: Vec<u32> =
        matched().flat_map(|one| one.matched.iter().map(|(place, _)| *place)).collect();
    places.sort_unstable();
    places.dedup();
    let of_all = matched().filter(|one| one.is_meeting() && one.matched.len() == places.len());
    let chosen = of_all.max_by_key(|one| one.shortest_ns.len())?;
    let half = chosen.shortest_ns.len().div_ceil(2);
    let mut ranks = chosen.matched.clone();
    ranks.retain(|(_, calls)| calls.len() >= half);
    (ranks.len() > 1).then_some(ranks)
}

/// When the warm-up of a rank ended; 0 without one, or when all iterations are warm-up.
fn warm_until_ns(rank: &RankSummary) -> u64 {
    let of = |iterations: &IterationSums| {
        let n_warm = iterations.cells.iter().take_while(|cell| cell.is_warm_up).count();
        iterations.cells.get(n_warm)?;
        Some(iterations.cells.get(n_warm.checked_sub(1)?)?.end_ns)
    };
    let kinds = [&rank.steps, &rank.blocks];
    kinds.into_iter().flatten().filter_map(of).max().unwrap_or_default()
}

/// The time of one rank between ends of calls, in parts with equally many of them.
struct Parts {
    bounds: [u64; N_PARTS + 1],
    each: [Part; N_PARTS],
}

/// One rank in a part of the time.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_field_names, reason = "units")]
struct Part {
    length_ns: u64,
    waiting_ns: u64,
    /// Communication that is not matched.
    elsewhere_ns: u64,
}

impl Parts {
    fn of(place: u32, calls: &[Interval], shared: &[SharedCalls<'_>]) -> Self {
        let n_intervals = calls.len() - 1;
        let bounds: [u64; N_PARTS + 1] =
            std::array::from_fn(|at| calls[n_intervals * at / N_PARTS].end_ns);
        let mut parts = Self { bounds, each: [Part::default(); N_PARTS] };
        for (part, bounds) in parts.each.iter_mut().zip(bounds.windows(2)) {
            part.length_ns = bounds[1].saturating_sub(bounds[0]);
        }
        for one in in_work(shared) {
            if one.matched_of(place).is_some() {
                for call in one.calls_of(place) {
                    parts.add(call.time.start_ns, call.waiting_ns, |part| &mut part.waiting_ns);
                }
            } else if !one.is_device {
                for call in one.sums_of(place).into_iter().flat_map(|sums| &sums.calls) {
                    parts.add(call.start_ns, call.length_ns(), |part| &mut part.elsewhere_ns);
                }
            }
        }
        parts
    }

    /// Adds what began in one of the parts.
    fn add(&mut self, start_ns: u64, ns: u64, figure: fn(&mut Part) -> &mut u64) {
        let after = self.bounds.partition_point(|bound| *bound <= start_ns);
        if let Some(part) = after.checked_sub(1).and_then(|at| self.each.get_mut(at)) {
            let sum = figure(part);
            *sum = sum.saturating_add(ns);
        }
    }
}

impl Part {
    /// Below zero where calls within one another waited more than the time.
    fn own_ns(&self) -> f64 {
        float(self.length_ns) - float(self.waiting_ns) - float(self.elsewhere_ns)
    }
}

/// Fewer parts than this do not show that a rank became slow: a quarter of the time.
const MIN_LATE: usize = 3;

/// What each rank takes longer than the median rank in the same parts.
struct Beyond {
    of_ranks: Vec<Vec<f64>>,
    medians_ns: Vec<f64>,
}

impl Beyond {
    /// In parts of so many together.
    fn of(each: &[Parts], n_together: usize) -> Self {
        let own_ns = |parts: &Parts| -> Vec<f64> {
            let chunks = parts.each.chunks(n_together);
            chunks.map(|parts| parts.iter().map(Part::own_ns).sum()).collect()
        };
        let mut of_ranks: Vec<Vec<f64>> = each.iter().map(own_ns).collect();
        let median_ns = |at: usize| {
            let of_part = of_ranks.iter().map(|own_ns| own_ns[at]).collect();
            lower_median(of_part, f64::total_cmp).unwrap_or_default()
        };
        let medians_ns: Vec<f64> = (0..N_PARTS / n_together).map(median_ns).collect();
        for own_ns in &mut of_ranks {
            own_ns.iter_mut().zip(&medians_ns).for_each(|(own_ns, median_ns)| *own_ns -= median_ns);
        }
        Self { of_ranks, medians_ns }
    }

    /// Standard error of a rank's sum, by the scatter over parts: √n σ. Not of single intervals: work that is done once a step is no chance
    /// where a step has several calls. Over coarse parts, or over all, whichever is smaller: work that comes back seldom is as much in each
    /// coarse part, and scatters over fine ones; of a rank that is slow for most of the time it is the other way round.
    fn error_ns(&self, rank: usize) -> f64 {
        let beyond = &self.of_ranks[rank];
        let n_parts = float(beyond.len() as u64);
        n_parts.sqrt() * std_dev(beyond)
    }

    /// Since when a rank takes longer: from there on every part by more beyond the median rank than every part before, and in the mean by more
    /// than three standard deviations of those.
    ///
    /// ```text
    /// beyond the median   0 1 0 1 1 0 0 1 0 | 9 8 9
    /// ```
    fn late(&self, rank: usize, parts: &Parts) -> Option<Late> {
        let beyond = &self.of_ranks[rank];
        let apart = |at: usize| mean(&beyond[at..]) - mean(&beyond[..at]);
        let is_onset = |at: &usize| {
            let (before, after) = beyond.split_at(*at);
            let most = before.iter().copied().fold(f64::MIN, f64::max);
            after.iter().all(|ns| *ns > most) && apart(*at) > 3.0 * std_dev(before)
        };
        let onsets = (MIN_LATE..=N_PARTS - MIN_LATE).filter(is_onset);
        let onset = onsets.max_by(|a, b| apart(*a).total_cmp(&apart(*b)))?;
        let usual_ns = mean(&self.medians_ns[onset..]).max(1.0);
        Some(Late { since_ns: parts.bounds[onset], score: mean(&beyond[onset..]) / usual_ns })
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float(values.len() as u64)
}

/// Of two values at least.
fn std_dev(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / float(values.len() as u64 - 1)).sqrt()
}
