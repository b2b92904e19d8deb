//! What takes the slowest rank longer than a usual one?
//!
//! ```text
//! wall    rank 0 604 · rank 1 606 · rank 3 608 · rank 2 805      usual: rank 1, the lower of the middle two
//! rank 0  |------------|
//! rank 1  |------------|
//! rank 2  |-----------------|      ends 197 after the others
//! rank 3  |------------|
//! ```

use std::collections::BTreeSet;

use marey::Thresholds;

use super::members::state;
use super::{Clocks, MemberState, StragglerVerdict, Stragglers, placed};
use crate::account::{PathTime, PathTimes, SharedAccount};
use crate::job::{RankSummary, Source};
use crate::stats::float;

/// The slowest rank of a job beside a usual one: a rank that there is, so that what held each of them up adds up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlowestRank {
    /// Its place.
    pub place: u32,
    /// Place of the rank with the median; of an even number the lower of the middle two.
    pub usual: u32,
    /// What they are compared by: own times as in [`super::RankStraggler::own_ns`] where waiting is known, else wall times.
    pub is_own_time: bool,
    /// That of the slowest and that of the usual one.
    pub ns: [u64; 2],
    /// It is so much longer than chance or evenness allow that the rank is slower than the others.
    pub is_slow: bool,
    /// What held the slowest and the usual one up, in this order; `None` unless both are captures of which that is known.
    pub account: Option<SharedAccount>,
}

/// The rank that still ran when all others had ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastRank {
    /// Its place.
    pub place: u32,
    /// How long it still ran.
    pub alone_ns: u64,
    /// The largest section that no other rank has, and what it held the rank up; `None` where there is none, or that is not known.
    pub section: Option<(String, u64)>,
}

/// By own times where waiting is known, else by the wall times of the ranks that ended well. `None` of fewer than two.
pub(super) fn slowest(
    places: &[&RankSummary],
    stragglers: &Stragglers,
    thresholds: &Thresholds,
) -> Option<SlowestRank> {
    let is_own_time = stragglers.is_waiting_known;
    let mut compared: Vec<(u64, u32)> = if is_own_time {
        let ranks = stragglers.ranks.iter();
        ranks.map(|rank| (rank.own_ns, rank.place)).collect()
    } else {
        let whole = placed(places).filter(|(_, rank)| state(rank) == MemberState::Whole);
        whole.map(|(place, rank)| (rank.wall_ns, place)).collect()
    };
    compared.retain(|(ns, _)| *ns > 0);
    compared.sort_unstable();
    let usual = *compared.get(compared.len().checked_sub(1)? / 2)?;
    let slowest = *compared.last().filter(|last| **last != usual)?;
    let is_beyond = float(slowest.0) > float(usual.0) * (1.0 + thresholds.straggler_ratio);
    let mut verdicts = stragglers.ranks.iter();
    let is_judged =
        verdicts.any(|rank| rank.place == slowest.1 && rank.verdict == StragglerVerdict::Slow);
    let both = [slowest.1, usual.1].map(|place| path_times(places.get(place as usize)?));
    let account = match both {
        [Some(slowest), Some(usual)] => Some(SharedAccount::new(vec![slowest, usual])),
        _ => None,
    };
    Some(SlowestRank {
        place: slowest.1,
        usual: usual.1,
        is_own_time,
        ns: [slowest.0, usual.0],
        is_slow: if is_own_time { is_judged } else { is_beyond },
        account,
    })
}

/// `None` unless it is a capture of which all is known.
fn path_times(rank: &RankSummary) -> Option<PathTimes> {
    let time = |section: &crate::job::SectionSums| {
        Some(PathTime {
            path: section.path.clone(),
            is_iteration: section.is_iteration,
            self_ns: section.held_ns?,
        })
    };
    let is_capture = rank.source == Source::Capture && !rank.sections.is_empty();
    let times: Option<Vec<PathTime>> = rank.sections.iter().map(time).collect();
    Some((rank.wall_ns, times.filter(|_| is_capture)?))
}

/// The rank that ends after all others.
///
/// ```text
/// rank 0   |-- steps --|-- vae_decode --|      alone for as long as it decodes
/// rank 1   |-- steps --|
/// ```
pub(super) fn last(places: &[&RankSummary], clocks: &Clocks) -> Option<LastRank> {
    let end_ns = |(place, rank): (u32, &RankSummary)| {
        let start_ns = clocks.each.get(place as usize)?.start_ns?;
        Some((start_ns.saturating_add(rank.wall_ns), place))
    };
    let ends: Option<Vec<(u64, u32)>> = placed(places).map(end_ns).collect();
    let mut ends = ends?;
    ends.sort_unstable();
    let [.., (before_ns, _), (last_ns, place)] = ends.as_slice() else {
        return None;
    };
    let alone_ns = last_ns - before_ns;
    (alone_ns > 0).then(|| LastRank { place: *place, alone_ns, section: only_here(places, *place) })
}

/// The largest section of a rank that no other has; what it is within may be on all.
fn only_here(places: &[&RankSummary], place: u32) -> Option<(String, u64)> {
    let rank = places.get(place as usize)?;
    let others = placed(places).filter(|(other, _)| *other != place);
    let known: BTreeSet<&Vec<String>> =
        others.flat_map(|(_, rank)| rank.sections.iter().map(|section| &section.path)).collect();
    let is_outermost = |path: &[String]| {
        let around = path[..path.len().saturating_sub(1)].to_vec();
        around.is_empty() || known.contains(&around)
    };
    let held_ns = |path: &[String]| -> Option<u64> {
        let within = rank.sections.iter().filter(|one| one.path.starts_with(path));
        let mut within = within.map(|one| one.held_ns);
        within.try_fold(0_u64, |sum, held_ns| Some(sum.saturating_add(held_ns?)))
    };
    let own = rank.sections.iter().map(|section| &section.path);
    let own = own.filter(|path| !known.contains(path) && is_outermost(path));
    let each = own.filter_map(|path| Some((path.last()?.clone(), held_ns(path)?)));
    each.max_by_key(|(_, ns)| *ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Ended, SectionSums};
    use crate::ranks::PlacedClock;

    const MS: u64 = 1_000_000;

    /// A rank of so many milliseconds in steps, which loads for 100, and 5 more.
    fn rank(rank: u32, steps_ms: u64) -> RankSummary {
        let section = |path: &[&str], held_ms: u64| SectionSums {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            count: 1,
            total_ns: held_ms * MS,
            held_ns: Some(held_ms * MS),
            ..SectionSums::default()
        };
        let mut found = RankSummary {
            ended: Ended::Finished,
            wall_ns: (steps_ms + 105) * MS,
            sections: vec![
                section(&["denoise"], 0),
                section(&["denoise", "step"], steps_ms),
                section(&["load"], 100),
            ],
            ..RankSummary::default()
        };
        found.process.rank = Some(rank);
        found
    }

    fn clocks(starts_ms: &[u64]) -> Clocks {
        let at = |ms: &u64| PlacedClock { start_ns: Some(ms * MS), ..PlacedClock::default() };
        Clocks { each: starts_ms.iter().map(at).collect(), ..Clocks::default() }
    }

    fn of(ranks: &[RankSummary]) -> Option<SlowestRank> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        slowest(&places, &Stragglers::default(), &Thresholds::default())
    }

    #[test]
    fn the_slowest_rank_stands_beside_the_one_with_the_median() {
        // ms        0         500        700
        // rank 0    |----504----|
        // rank 1     |----506----|             ends at 507, rank 3 at 511
        // rank 2    |------------705----------|
        // rank 3      |----508----|
        let ranks = [rank(0, 399), rank(1, 401), rank(2, 600), rank(3, 403)];
        let found = of(&ranks).unwrap();
        assert_eq!((found.place, found.usual, found.is_slow), (2, 1, true));
        assert_eq!(found.ns, [705 * MS, 506 * MS]);
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let last = last(&places, &clocks(&[0, 1, 0, 3])).unwrap();
        let expected = (2, (705 - 511) * MS, None);
        assert_eq!((last.place, last.alone_ns, last.section), expected);
        let account = found.account.unwrap();
        assert_eq!(account.wall_ns, [705 * MS, 506 * MS]);
        assert_eq!(account.held_ns()[0], [600 * MS, 401 * MS]);
    }

    #[test]
    fn what_only_the_last_rank_does_is_named() {
        // rank 0    |----504----|vae_decode, save: 30|     save is within vae_decode
        // rank 1    |----505----|
        let mut ranks = [rank(0, 399), rank(1, 400)];
        for (path, held_ms) in [(&["vae_decode"][..], 20), (&["vae_decode", "save"], 10)] {
            ranks[0].sections.push(SectionSums {
                path: path.iter().map(|name| (*name).to_owned()).collect(),
                held_ns: Some(held_ms * MS),
                ..SectionSums::default()
            });
        }
        ranks[0].wall_ns += 30 * MS;
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let expected =
            LastRank { place: 0, alone_ns: 29 * MS, section: Some(("vae_decode".into(), 30 * MS)) };
        assert_eq!(last(&places, &clocks(&[0, 0])), Some(expected));
        assert_eq!(last(&places[..1], &clocks(&[0])), None);
    }

    #[test]
    fn even_ranks_have_none_that_is_slow() {
        let found = of(&[rank(0, 399), rank(1, 400)]).unwrap();
        assert_eq!((found.place, found.usual, found.is_slow), (1, 0, false));
    }

    #[test]
    fn what_is_not_whole_is_not_compared() {
        let mut ranks = [rank(0, 399), rank(1, 600)];
        ranks[1].ended = Ended::Killed(9);
        assert_eq!(of(&ranks), None);
        assert_eq!(of(&ranks[..1]), None);
        assert_eq!(of(&[]), None);
        // A report says what sections took, not what held it up.
        let mut ranks = [rank(0, 399), rank(1, 600)];
        ranks[0].sections[2].held_ns = None;
        let found = of(&ranks).unwrap();
        assert_eq!((found.is_slow, found.account), (true, None));
    }
}
