//! What takes the slowest rank longer than a usual one?
//!
//! ```text
//! wall    rank 0 604 · rank 1 606 · rank 3 608 · rank 2 805      usual: rank 1, the lower of the middle two
//! rank 0  |------------|
//! rank 1  |------------|
//! rank 2  |-----------------|      ends 197 after the others
//! rank 3  |------------|
//! ```

use marey::Thresholds;

use super::members::state;
use super::{Clocks, MemberState, SlowestRank, StragglerVerdict, Stragglers, placed};
use crate::account::{PathTime, PathTimes, SharedAccount};
use crate::job::{RankSummary, Source};
use crate::stats::float;

/// By own times where waiting is known, else by the wall times of the ranks that ended well. `None` of fewer than two.
pub(super) fn slowest(
    places: &[&RankSummary],
    stragglers: &Stragglers,
    clocks: &Clocks,
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
        ends_later_ns: ends_later_ns(places, clocks, slowest.1),
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

fn ends_later_ns(places: &[&RankSummary], clocks: &Clocks, slowest: u32) -> Option<u64> {
    let end_ns = |(place, rank): (u32, &RankSummary)| {
        let start_ns = clocks.each.get(place as usize)?.start_ns?;
        Some((place, start_ns.saturating_add(rank.wall_ns)))
    };
    let ends: Option<Vec<(u32, u64)>> = placed(places).map(end_ns).collect();
    let ends = ends?;
    let own = ends.iter().find(|(place, _)| *place == slowest)?.1;
    let others = ends.iter().filter(|(place, _)| *place != slowest);
    let later = own.checked_sub(others.map(|(_, end)| *end).max()?)?;
    (later > 0).then_some(later)
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
        let at = |ms: &u64| PlacedClock {
            start_ns: Some(ms * MS),
            ..PlacedClock::default()
        };
        Clocks {
            each: starts_ms.iter().map(at).collect(),
            ..Clocks::default()
        }
    }

    fn of(ranks: &[RankSummary]) -> Option<SlowestRank> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let clocks = clocks(&[0, 1, 0, 3]);
        slowest(
            &places,
            &Stragglers::default(),
            &clocks,
            &Thresholds::default(),
        )
    }

    #[test]
    fn the_slowest_rank_stands_beside_the_one_with_the_median() {
        // ms        0         500        700
        // rank 0    |----504----|
        // rank 1     |----506----|             ends at 507, rank 3 at 511
        // rank 2    |------------705----------|
        // rank 3      |----508----|
        let found = of(&[rank(0, 399), rank(1, 401), rank(2, 600), rank(3, 403)]).unwrap();
        assert_eq!((found.place, found.usual, found.is_slow), (2, 1, true));
        assert_eq!(found.ns, [705 * MS, 506 * MS]);
        assert_eq!(found.ends_later_ns, Some((705 - 511) * MS));
        let account = found.account.unwrap();
        assert_eq!(account.wall_ns, [705 * MS, 506 * MS]);
        assert_eq!(account.held_ns()[0], [600 * MS, 401 * MS]);
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
