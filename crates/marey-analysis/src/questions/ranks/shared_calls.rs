//! Which calls of collectives are the same on several ranks?

use std::collections::{BTreeMap, BTreeSet};

use super::MemberState;
use super::members::state;
use super::placed;
use crate::intervals::Interval;
use crate::job::{BEGIN, CollectiveSums, RankSummary, START_UP, Source, WAIT, is_between_two};

/// One collective of one group over ranks.
pub(super) struct SharedCalls<'a> {
    pub(super) group: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) is_device: bool,
    /// Ranks in the group; `None` when no rank says.
    pub(super) group_size: Option<u64>,
    /// More ranks have it than the group has members: it is the name of several groups, and which ranks are one is not known.
    pub(super) is_ambiguous: bool,
    /// Ranks that have it, by place.
    pub(super) having: Vec<(u32, &'a CollectiveSums)>,
    /// Those whose n-th calls are the same, by place, with these calls in order: of a rank with more than a summary keeps the first, and of the
    /// others as many. Fewer than two when nothing is matched.
    pub(super) matched: Vec<(u32, &'a [Interval])>,
    /// What the fastest rank of each matched call took; `None` of a call that only one rank made.
    pub(super) shortest_ns: Vec<Option<u64>>,
    /// Calls of a matched rank that ended well; of all the most, when none did.
    pub(super) n_calls: u64,
}

/// One matched call on one rank.
pub(super) struct RankCall {
    pub(super) time: Interval,
    /// What it took longer than on the fastest rank.
    pub(super) waiting_ns: u64,
}

impl<'a> SharedCalls<'a> {
    /// The calls of a rank that others made, too, in order.
    pub(super) fn calls_of(&self, place: u32) -> impl Iterator<Item = RankCall> {
        let each = self.matched_of(place).into_iter().flatten().zip(&self.shortest_ns);
        each.filter_map(|(time, shortest_ns)| {
            let waiting_ns = time.length_ns().saturating_sub((*shortest_ns)?);
            Some(RankCall { time: *time, waiting_ns })
        })
    }

    /// All calls of a rank whose n-th are the n-th of others; `None` of other ranks.
    pub(super) fn matched_of(&self, place: u32) -> Option<&'a [Interval]> {
        let at = self.matched.binary_search_by_key(&place, |(at, _)| *at).ok()?;
        self.matched.get(at).filter(|_| self.is_matched()).map(|(_, calls)| *calls)
    }

    /// What a rank has of it.
    pub(super) fn sums_of(&self, place: u32) -> Option<&'a CollectiveSums> {
        let at = self.having.binary_search_by_key(&place, |(at, _)| *at).ok()?;
        self.having.get(at).map(|(_, sums)| *sums)
    }

    /// How many calls a rank made; `None` when it does not have it.
    pub(super) fn count_of(&self, place: u32) -> Option<u64> {
        self.sums_of(place).map(|sums| sums.count)
    }

    /// How many calls each rank that has it made; `None` when they differ, or the ranks are several groups.
    pub(super) fn calls_of_each(&self) -> Option<u64> {
        let mut counts = self.having.iter().map(|(_, sums)| sums.count);
        let first = counts.next()?;
        let is_known = !self.is_ambiguous && counts.all(|count| count == first);
        is_known.then_some(first)
    }

    /// Its n-th calls are the same on at least two ranks.
    pub(super) fn is_matched(&self) -> bool {
        self.matched.len() > 1
    }

    /// It belongs to the start of the processes, not to their work.
    pub(super) fn is_start_up(&self) -> bool {
        self.name == START_UP
    }

    /// All matched ranks are within the n-th call at one moment. Not so of waits for calls that were begun before.
    pub(super) fn is_meeting(&self) -> bool {
        let is_part = self.name.ends_with(BEGIN) || self.name.ends_with(WAIT);
        let is_synchronising = self.having.iter().all(|(_, sums)| sums.is_synchronising);
        self.is_matched() && is_synchronising && !is_part
    }
}

/// All but the start of the processes.
pub(super) fn in_work<'s, 'a>(
    shared: &'s [SharedCalls<'a>],
) -> impl Iterator<Item = &'s SharedCalls<'a>> {
    shared.iter().filter(|one| !one.is_start_up())
}

/// Group, name, and whether it was measured on a device.
type Key<'a> = (Option<&'a str>, &'a str, bool);

/// How many calls are kept of the rank that keeps the fewest of more.
fn n_kept_on_all(having: &[(u32, &CollectiveSums)]) -> usize {
    let cut = having.iter().map(|(_, sums)| (sums.calls.len(), sums.count));
    let cut = cut.filter(|(n_kept, count)| (*n_kept as u64) < *count);
    cut.map(|(n_kept, _)| n_kept).min().unwrap_or(usize::MAX)
}

/// Calls by group and name. The n-th call of one rank is the n-th of the others.
///
/// ```text
/// rank 0   1 2 3 4 5 6           ended well
/// rank 1   1 2 3 4 5 6           ended well: as many, or nothing is matched
/// rank 2   1 2 3 4 x             killed: its calls are the first ones
/// ```
///
/// Ranks that ended well have to agree in their number of calls. One that did not may have fewer, if it is a capture without losses, which
/// begins with the process. A group that says it is smaller than the number of ranks that have it is several of one name: nothing is
/// matched. Messages between two ranks are not matched, nor the beginnings of calls that go on beside
/// the host. What a rank measured on a device stands for the same calls on the host.
pub(super) fn shared_calls<'a>(places: &[&'a RankSummary]) -> Vec<SharedCalls<'a>> {
    let mut by_key: BTreeMap<Key<'a>, Vec<(u32, &'a CollectiveSums)>> = BTreeMap::new();
    for (place, rank) in placed(places) {
        for sums in used(rank) {
            let key = (sums.group.as_deref(), sums.name.as_str(), sums.is_device);
            let having = by_key.entry(key).or_default();
            // No recorder writes one twice.
            if having.last().is_none_or(|(last, _)| *last != place) {
                having.push((place, sums));
            }
        }
    }
    let groups = groups(&by_key);
    let shared = |((group, name, is_device), having): (Key<'a>, Vec<_>)| {
        let known = groups.get(&group);
        let group_size = known.and_then(|(size, _)| *size);
        let n_ranks = known.map_or(0, |(_, places)| places.len() as u64);
        let is_ambiguous = group_size.is_some_and(|size| n_ranks > size);
        let taken = if is_ambiguous { Vec::new() } else { matched(name, &having, places) };
        let n_kept = n_kept_on_all(&taken);
        let first = |sums: &'a CollectiveSums| sums.calls.get(..n_kept).unwrap_or(&sums.calls);
        let n_calls = taken.iter().map(|(_, sums)| sums.count).max().unwrap_or(0);
        let matched: Vec<_> = taken.iter().map(|(place, sums)| (*place, first(sums))).collect();
        SharedCalls {
            group,
            name,
            is_device,
            group_size,
            is_ambiguous,
            n_calls,
            shortest_ns: shortest(&matched),
            matched,
            having,
        }
    };
    by_key.into_iter().map(shared).collect()
}

/// Of each call what the fastest rank took, where two made it.
fn shortest(matched: &[(u32, &[Interval])]) -> Vec<Option<u64>> {
    let n_calls = matched.iter().map(|(_, calls)| calls.len()).max().unwrap_or(0);
    let of_call = |at: usize| {
        let mut lengths = matched.iter().filter_map(|(_, calls)| calls.get(at));
        let first = lengths.next()?.length_ns();
        lengths.map(Interval::length_ns).min().map(|least| least.min(first))
    };
    (0..n_calls).map(of_call).collect()
}

/// Of each name of a group, how many members it says to have, and which ranks have it.
fn groups<'a>(
    by_key: &BTreeMap<Key<'a>, Vec<(u32, &'a CollectiveSums)>>,
) -> BTreeMap<Option<&'a str>, (Option<u64>, BTreeSet<u32>)> {
    let mut found: BTreeMap<Option<&'a str>, (Option<u64>, BTreeSet<u32>)> = BTreeMap::new();
    for ((group, ..), having) in by_key {
        let (size, places) = found.entry(*group).or_default();
        for (place, sums) in having {
            *size = (*size).max(sums.group_size);
            places.insert(*place);
        }
    }
    found
}

/// Calls of a rank that count: those on a device for the same ones on the host.
pub(super) fn used(rank: &RankSummary) -> impl Iterator<Item = &CollectiveSums> {
    let is_told_by_device = |host: &CollectiveSums| {
        let mut others = rank.collectives.iter();
        others.any(|one| one.is_device && one.group == host.group && one.name == host.name)
    };
    let all = rank.collectives.iter();
    all.filter(move |one| one.is_device || !is_told_by_device(one))
}

/// Those without the start of the processes.
pub(super) fn used_in_work(rank: &RankSummary) -> impl Iterator<Item = &CollectiveSums> {
    used(rank).filter(|one| one.name != START_UP)
}

/// Those of work, an asynchronous call once: by its begin, or by the wait where that is all there is of it.
pub(super) fn called(rank: &RankSummary) -> impl Iterator<Item = &CollectiveSums> {
    let is_begun = |wait: &CollectiveSums| {
        let name = wait.name.strip_suffix(WAIT);
        let mut others = rank.collectives.iter();
        name.is_some()
            && others.any(|one| one.group == wait.group && one.name.strip_suffix(BEGIN) == name)
    };
    used_in_work(rank).filter(move |one| !is_begun(one))
}

fn matched<'a>(
    name: &str,
    having: &[(u32, &'a CollectiveSums)],
    places: &[&RankSummary],
) -> Vec<(u32, &'a CollectiveSums)> {
    if is_between_two(name) || name.ends_with(BEGIN) {
        return Vec::new();
    }
    numbered_alike(having, |sums| sums.count, places)
}

/// Of ranks that have so many of something, those whose n-th is the n-th of the others.
pub(super) fn numbered_alike<T: Copy>(
    having: &[(u32, T)],
    count: impl Fn(T) -> u64,
    places: &[&RankSummary],
) -> Vec<(u32, T)> {
    let rank = |place: u32| places.get(place as usize).copied();
    let is_whole = |place: u32| rank(place).is_some_and(|one| state(one) == MemberState::Whole);
    let of_whole = || having.iter().filter(|(place, _)| is_whole(*place));
    let most = having.iter().map(|(_, one)| count(*one)).max();
    let expected = of_whole().map(|(_, one)| count(*one)).max().or(most);
    if of_whole().any(|(_, one)| Some(count(*one)) != expected) {
        return Vec::new();
    }
    let is_beginning = |place: u32| rank(place).is_some_and(begins_with_the_process);
    let is_same = |place: u32, count: u64| {
        Some(count) == expected || (Some(count) < expected && is_beginning(place))
    };
    let same = having.iter().filter(|(place, one)| is_same(*place, count(*one)));
    same.copied().collect()
}

/// What there is of it are its first calls.
fn begins_with_the_process(rank: &RankSummary) -> bool {
    let is_early = matches!(state(rank), MemberState::Cut | MemberState::Running);
    is_early && rank.source == Source::Capture && rank.n_lost == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Ended;

    fn sums(name: &str, count: u64) -> CollectiveSums {
        let call = |start_ns| Interval { start_ns, end_ns: start_ns + 1 };
        CollectiveSums {
            name: name.to_owned(),
            count,
            calls: (0..count).map(call).collect(),
            ..CollectiveSums::default()
        }
    }

    fn rank(collectives: Vec<CollectiveSums>) -> RankSummary {
        RankSummary { collectives, ended: Ended::Finished, ..RankSummary::default() }
    }

    /// Places of matched ranks, of each collective.
    fn matches(ranks: &[RankSummary]) -> Vec<Vec<u32>> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let found = shared_calls(&places);
        let of_one = |one: &SharedCalls<'_>| one.matched.iter().map(|(place, _)| *place).collect();
        found.iter().map(of_one).collect()
    }

    #[test]
    fn ranks_that_ended_well_agree_or_nothing_is_matched() {
        let of = |count| rank(vec![sums("barrier", count)]);
        assert_eq!(matches(&[of(6), of(6)]), [[0, 1]]);
        assert!(matches(&[of(6), of(5)])[0].is_empty());
    }

    #[test]
    fn the_calls_of_a_killed_rank_are_the_first_ones() {
        // rank 2 was killed after 4 of 6 calls; rank 3, too, but lost some before.
        let of = |count| rank(vec![sums("barrier", count)]);
        let mut ranks = [of(6), of(6), of(4), of(4)];
        ranks[2].ended = Ended::Killed(9);
        ranks[3].ended = Ended::Killed(9);
        ranks[3].n_lost = 1;
        assert_eq!(matches(&ranks), [[0, 1, 2]]);
        // None ended well: both of them have the first four calls in common.
        assert_eq!(matches(&ranks[2..]), [[0, 1]]);
    }

    #[test]
    fn several_groups_of_one_name_messages_and_beginnings_are_not_matched() {
        let in_group_of_2 = || {
            let mut one = sums("all_reduce", 3);
            one.group_size = Some(2);
            rank(vec![one])
        };
        assert_eq!(matches(&[in_group_of_2(), in_group_of_2()]), [[0, 1]]);
        assert!(matches(&[in_group_of_2(), in_group_of_2(), in_group_of_2()])[0].is_empty());
        for name in ["send", "irecv", "all_reduce begin"] {
            let of = || rank(vec![sums(name, 3)]);
            assert!(matches(&[of(), of()])[0].is_empty(), "{name}");
        }
    }

    #[test]
    fn device_times_stand_for_those_of_the_host() {
        let mut on_device = sums("all_reduce", 3);
        on_device.is_device = true;
        let one = rank(vec![sums("all_reduce", 3), on_device, sums("barrier", 1)]);
        let names: Vec<(&str, bool)> = used(&one).map(|s| (s.name.as_str(), s.is_device)).collect();
        assert_eq!(names, [("all_reduce", true), ("barrier", false)]);
    }

    #[test]
    fn where_a_rank_keeps_its_first_calls_so_many_are_looked_at_of_all() {
        // 5 calls each: all are kept of one rank, the first 3 and the first 4 of the others. A killed rank with 2 cuts nobody short.
        let first = |n_kept: usize, count: u64| {
            let mut one = sums("barrier", count);
            one.calls.truncate(n_kept);
            rank(vec![one])
        };
        let mut ranks = [first(5, 5), first(3, 5), first(4, 5), first(2, 2)];
        ranks[3].ended = Ended::Killed(9);
        let found = shared_calls(&ranks.each_ref());
        let n_calls: Vec<usize> = found[0].matched.iter().map(|(_, calls)| calls.len()).collect();
        assert_eq!(n_calls, [3, 3, 3, 2]);
        assert_eq!(found[0].n_calls, 5);
    }

    #[test]
    fn waits_for_calls_that_were_begun_before_are_no_meeting() {
        let synchronising = |name: &str| {
            let mut one = sums(name, 2);
            one.is_synchronising = true;
            rank(vec![one])
        };
        for (name, expected) in [("all_reduce", true), ("all_reduce wait", false)] {
            let ranks = [synchronising(name), synchronising(name)];
            assert_eq!(shared_calls(&ranks.each_ref())[0].is_meeting(), expected, "{name}");
        }
    }
}
