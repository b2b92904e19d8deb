//! Which ranks make a group, where several groups have one name?

use std::collections::{BTreeMap, BTreeSet};

use super::members::state;
use super::shared_calls::{Matched, Naming, SharedCalls};
use super::{Clocks, MemberState, PlacedClock};
use crate::intervals::Interval;
use crate::job::RankSummary;

/// What clocks of one machine may differ by from process to process, each way: conversion from ticks leaves some microseconds.
const SLACK_NS: u64 = 100_000;

/// Passes over the calls; each takes out of chains who went to another class in the one before.
const MAX_PASSES: usize = 3;

/// Collectives whose group is several of one name, one for each group; those of ranks that cannot be told apart stay together, unmatched.
///
/// All members of a group are within each of its calls at one moment, and whole ranks of one group have as many calls. Ranks for which
/// that is not so are of different groups:
///
/// ```text
/// rank 0   |---tp---|         |--tp--|
/// rank 1       |-tp-|            |tp-|          {0, 1}
/// rank 2             |--tp--|        |-tp-|
/// rank 3              |-tp--|      |--tp--|     {2, 3}: the second calls of all ranks chain, the first ones do not
/// ```
///
/// What stays together after all calls is one group if it cannot be parts of two: it has as many ranks as the group has members, and too few
/// ranks are not seen for the rest of another one. `world_size` tells how many ranks are missing. Costs three passes over the calls.
pub(super) fn parted<'a>(
    shared: Vec<SharedCalls<'a>>,
    places: &[&RankSummary],
    clocks: &Clocks,
    world_size: Option<u32>,
) -> Vec<SharedCalls<'a>> {
    let is_several = |one: &SharedCalls<'_>| one.naming == Naming::Several;
    let (several, mut found): (Vec<_>, Vec<_>) = shared.into_iter().partition(is_several);
    let mut by_group: BTreeMap<Option<&str>, Vec<SharedCalls<'a>>> = BTreeMap::new();
    for one in several {
        by_group.entry(one.group).or_default().push(one);
    }
    for of_name in by_group.into_values() {
        let sizes = of_name.iter().filter_map(|one| one.group_size);
        let size = sizes.max().unwrap_or_default();
        let n_unseen = n_unseen(&of_name, places, world_size);
        let is_whole_group = |class: &BTreeSet<u32>| {
            let n_members = class.len() as u64;
            // Two groups, of which so many are seen together, have more members than that who are not.
            (2..=size).contains(&n_members) && n_unseen < size.saturating_mul(2) - n_members
        };
        let mut groups = classes(&of_name, places, clocks);
        groups.retain(is_whole_group);
        for one in of_name {
            let rest = |place: u32| !groups.iter().any(|group| group.contains(&place));
            let of_groups = groups.iter();
            found.extend(of_groups.filter_map(|group| one.part(places, |at| group.contains(&at))));
            found.extend(one.unmatched_part(rest));
        }
    }
    found
}

/// Ranks that may be in such a group without its calls being seen: those without a file, and those that ended before.
fn n_unseen(of_name: &[SharedCalls<'_>], places: &[&RankSummary], world_size: Option<u32>) -> u64 {
    let having: BTreeSet<u32> = places_of(of_name);
    let is_cut = |(place, rank): &(u32, &&RankSummary)| {
        !having.contains(place) && state(rank) != MemberState::Whole
    };
    let n_cut = (0..).zip(places).filter(is_cut).count() as u64;
    let ranks = places.iter().filter_map(|one| one.process.rank);
    let highest = ranks.max().map_or(0, |rank| rank.saturating_add(1));
    let world = u64::from(world_size.unwrap_or(highest).max(highest));
    world.saturating_sub(places.len() as u64) + n_cut
}

fn places_of(of_name: &[SharedCalls<'_>]) -> BTreeSet<u32> {
    let having = of_name.iter().flat_map(|one| &one.having);
    having.map(|(place, _)| *place).collect()
}

/// Places that nothing shows to be of different groups.
fn classes(
    of_name: &[SharedCalls<'_>],
    places: &[&RankSummary],
    clocks: &Clocks,
) -> Vec<BTreeSet<u32>> {
    let mut classes = by_counts(of_name, places);
    let meetings: Vec<Meetings> = of_name
        .iter()
        .filter(|one| one.is_synchronising())
        .map(|one| Meetings::of(one, clocks))
        .collect();
    for _ in 0..MAX_PASSES {
        let n_before = classes.len();
        for all in &meetings {
            classes = classes.iter().flat_map(|one| all.part(one)).collect();
        }
        if classes.len() == n_before {
            break;
        }
    }
    classes
}

/// By the numbers of calls, where all ranks ended well; else all of them.
fn by_counts(of_name: &[SharedCalls<'_>], places: &[&RankSummary]) -> Vec<BTreeSet<u32>> {
    let all = places_of(of_name);
    let is_whole = |place: &u32| {
        let rank = places.get(*place as usize);
        rank.is_some_and(|rank| state(rank) == MemberState::Whole)
    };
    if !all.iter().all(is_whole) {
        return vec![all];
    }
    let mut by_counts: BTreeMap<Vec<Option<u64>>, BTreeSet<u32>> = BTreeMap::new();
    for place in all {
        let counts = of_name.iter().map(|one| one.count_of(place)).collect();
        by_counts.entry(counts).or_default().insert(place);
    }
    by_counts.into_values().collect()
}

/// Calls of one collective on the common axis, as wide as they may be there.
struct Meetings(BTreeMap<u32, Vec<Interval>>);

impl Meetings {
    fn of(shared: &SharedCalls<'_>, clocks: &Clocks) -> Self {
        let placed = |of: Matched<'_>| {
            let clock = clocks.each.get(of.place as usize).copied();
            let clock = clock.unwrap_or_default();
            let calls = of.calls.iter().map(|call| widened(*call, clock));
            (of.place, calls.collect())
        };
        Self(shared.all_calls().map(placed).collect())
    }

    /// The ranks of a class, by whom their calls chain with. Only calls that all of them have tell.
    fn part(&self, class: &BTreeSet<u32>) -> Vec<BTreeSet<u32>> {
        let calls: Option<Vec<Calls<'_>>> =
            class.iter().map(|place| Some((*place, self.0.get(place)?.as_slice()))).collect();
        let Some(calls) = calls else {
            return vec![class.clone()];
        };
        let n_calls = calls.iter().map(|(_, calls)| calls.len()).min();
        let mut parts = vec![calls];
        for at in 0..n_calls.unwrap_or_default() {
            parts = parts.into_iter().flat_map(|one| chains(one, at)).collect();
        }
        let places = |part: Vec<Calls<'_>>| part.iter().map(|(place, _)| *place).collect();
        parts.into_iter().map(places).collect()
    }
}

/// The calls of a rank.
type Calls<'a> = (u32, &'a [Interval]);

/// Ranks whose calls of this number overlap, or overlap with one that does.
fn chains(mut part: Vec<Calls<'_>>, at: usize) -> Vec<Vec<Calls<'_>>> {
    part.sort_by_key(|(_, calls)| calls.get(at).copied());
    let mut found: Vec<Vec<Calls<'_>>> = Vec::new();
    let mut until_ns = 0;
    for one in part {
        let Some(time) = one.1.get(at) else { continue };
        match found.last_mut() {
            Some(chain) if time.start_ns <= until_ns => chain.push(one),
            _ => found.push(vec![one]),
        }
        until_ns = time.end_ns.max(until_ns);
    }
    found
}

/// Where the call may have been; anywhere, when its clock is not known well.
fn widened(call: Interval, clock: PlacedClock) -> Interval {
    let Some((start_ns, error_ns)) = clock.start_ns.zip(clock.error_ns) else {
        return Interval { start_ns: 0, end_ns: u64::MAX };
    };
    let off_ns = error_ns.saturating_add(SLACK_NS);
    Interval {
        start_ns: start_ns.saturating_add(call.start_ns).saturating_sub(off_ns),
        end_ns: start_ns.saturating_add(call.end_ns).saturating_add(off_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{CollectiveSums, Ended, RankProcess};
    use crate::questions::ranks::shared_calls::shared_calls;

    const MS: u64 = 1_000_000;

    /// A rank with calls of a group `tp` of two, in ms.
    fn rank(number: u32, calls: &[(u64, u64)]) -> RankSummary {
        let call = |&(start, end): &(u64, u64)| Interval { start_ns: start * MS, end_ns: end * MS };
        let calls: Vec<Interval> = calls.iter().map(call).collect();
        RankSummary {
            process: RankProcess { rank: Some(number), ..RankProcess::default() },
            ended: Ended::Finished,
            collectives: vec![CollectiveSums {
                group: Some("tp".into()),
                group_size: Some(2),
                name: "all_reduce".into(),
                is_synchronising: true,
                count: calls.len() as u64,
                calls,
                ..CollectiveSums::default()
            }],
            ..RankSummary::default()
        }
    }

    /// Ranks of each row with those that are matched, where all clocks are right within so much.
    fn rows(
        ranks: &[RankSummary],
        error_ns: Option<u64>,
        world_size: u32,
    ) -> Vec<(Vec<u32>, Vec<u32>)> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let clock = PlacedClock { start_ns: Some(0), error_ns, ..PlacedClock::default() };
        let clocks = Clocks { each: vec![clock; ranks.len()], ..Clocks::default() };
        let found = parted(shared_calls(&places), &places, &clocks, Some(world_size));
        let row = |one: &SharedCalls<'_>| {
            let having = one.having.iter().map(|(place, _)| *place).collect();
            (having, one.matched.iter().map(|one| one.place).collect())
        };
        found.iter().map(row).collect()
    }

    /// ```text
    /// ms       0        9 10       20        29 30      38 39
    /// rank 0   |---tp---|          |---tp----|
    /// rank 1       |-tp-|              |-tp--|
    /// rank 2              |--tp--|         |----tp--|
    /// rank 3               |-tp--|             |-tp-|
    /// ```
    fn two_groups() -> [RankSummary; 4] {
        [
            rank(0, &[(0, 9), (20, 30)]),
            rank(1, &[(5, 9), (24, 30)]),
            rank(2, &[(11, 18), (28, 38)]),
            rank(3, &[(12, 18), (33, 38)]),
        ]
    }

    #[test]
    fn two_groups_of_one_name_are_told_apart_by_when_their_calls_were() {
        let pairs = [(vec![0, 1], vec![0, 1]), (vec![2, 3], vec![2, 3])];
        assert_eq!(rows(&two_groups(), Some(0), 4), pairs);
        // Ranks 0 and 2 of groups {0, 2} and {1, 3}: neighbours are not taken for a group.
        let [a, b, c, d] = two_groups();
        let across = [a, c, b, d];
        let pairs = [(vec![0, 2], vec![0, 2]), (vec![1, 3], vec![1, 3])];
        assert_eq!(rows(&across, Some(0), 4), pairs);
    }

    #[test]
    fn ranks_that_cannot_be_told_apart_are_not_matched() {
        // All are within both calls at one moment.
        let alike = [0, 1, 2, 3].map(|number| rank(number, &[(0, 9), (20, 30)]));
        let nobody = [(vec![0, 1, 2, 3], Vec::new())];
        assert_eq!(rows(&alike, Some(0), 4), nobody);
        // Clocks that may be off by more than the gaps, or by nobody knows what, tell nothing.
        assert_eq!(rows(&two_groups(), Some(MS), 4), nobody);
        assert_eq!(rows(&two_groups(), None, 4), nobody);
    }

    #[test]
    fn two_ranks_of_groups_whose_others_are_missing_are_not_taken_for_one() {
        // 0 and 4 may be one group, or of two whose other ranks left no file: two are missing of a job of five.
        let mut ranks = two_groups().to_vec();
        ranks.truncate(3);
        ranks.push(rank(3, &[(100, 109), (120, 130)]));
        let all = rows(&ranks, Some(0), 4);
        assert_eq!(all, [(vec![0, 1], vec![0, 1]), (vec![2, 3], vec![])]);
        let all = rows(&ranks, Some(0), 6);
        assert_eq!(all, [(vec![0, 1, 2, 3], vec![])]);
    }

    #[test]
    fn whole_ranks_with_another_number_of_calls_are_of_another_group() {
        let ranks = [
            rank(0, &[(0, 9)]),
            rank(1, &[(0, 9)]),
            rank(2, &[(0, 9), (20, 30)]),
            rank(3, &[(0, 9), (20, 30)]),
        ];
        let pairs = [(vec![0, 1], vec![0, 1]), (vec![2, 3], vec![2, 3])];
        assert_eq!(rows(&ranks, None, 4), pairs);
    }
}
