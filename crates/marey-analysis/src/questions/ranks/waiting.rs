//! How much of communication was transfer, how much waiting for other ranks, and for which?

use std::cmp::Reverse;

use super::blame::Blame;
use super::over_ranks::share;
use super::shared_calls::{RankCall, SharedCalls, called, in_work, used_in_work};
use super::{Clocks, CollectiveWaiting, RankWaitingRow, Waiting, placed};
use crate::job::{BEGIN, CollectiveSums, RankSummary, WAIT};
use crate::stats::sum;

/// Communication over ranks; `None` when no collective of a group is on two. The shortest of the durations of a call is its transfer, and
/// what other ranks take longer is waiting, whatever their clocks say. What ranks wait for each other when they start is in its own
/// collective only.
///
/// ```text
/// rank 0   |------all_reduce-----|     24, waits 18
/// rank 1             |all_reduce-|     13, waits 7
/// rank 2                    |----|      6, the last to come: caused 18
/// ```
pub(super) fn waiting(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    clocks: &Clocks,
) -> Option<Waiting> {
    if shared.iter().all(|one| one.having.len() < 2) {
        return None;
    }
    let blame = Blame::of(places.len(), shared, clocks);
    let rows = placed(places).map(|(place, rank)| {
        let (n_last, caused_ns) = blame.of_rank(place);
        RankWaitingRow { n_last, caused_ns, ..row(place, rank, shared) }
    });
    let ranks = rows.filter(|row| row.n_calls > 0).collect();
    let mut collectives = shared.iter().map(of_collective).collect();
    add_beginnings(&mut collectives);
    collectives.sort_by_key(|row| Reverse(row.waiting_ns));
    Some(Waiting { ranks, collectives })
}

/// A rank without what it caused.
fn row(place: u32, rank: &RankSummary, shared: &[SharedCalls<'_>]) -> RankWaitingRow {
    let matched = || in_work(shared).flat_map(|one| one.calls_of(place));
    let of_all = |figure: fn(&RankCall) -> u64| sum(matched().map(|call| figure(&call)));
    let waiting_ns = of_all(|call| call.waiting_ns);
    let transfer_ns = of_all(|call| call.time.length_ns() - call.waiting_ns);
    let begin_ns = matched().map(|call| call.time.start_ns).min().unwrap_or_default();
    let end_ns = matched().map(|call| call.time.end_ns).max().unwrap_or_default();
    RankWaitingRow {
        place,
        n_calls: sum(called(rank).map(|one| one.count)),
        total_ns: sum(used_in_work(rank).map(|one| one.total_ns)),
        n_matched: matched().count() as u64,
        transfer_ns,
        waiting_ns,
        waiting_ratio: share(waiting_ns, transfer_ns.saturating_add(waiting_ns)),
        within_ns: end_ns.saturating_sub(begin_ns),
        ..RankWaitingRow::default()
    }
}

fn of_collective(shared: &SharedCalls<'_>) -> CollectiveWaiting {
    let is_matched = shared.shortest_ns.iter().any(Option::is_some);
    let calls = shared.matched.iter().flat_map(|(place, _)| shared.calls_of(*place));
    let of_all = |figure: fn(&CollectiveSums) -> u64| {
        sum(shared.having.iter().map(|(_, sums)| figure(sums)))
    };
    let places = shared.having.iter().filter(|_| shared.is_ambiguous);
    let bytes = shared.having.iter().filter_map(|(_, sums)| sums.bytes);
    CollectiveWaiting {
        group: shared.group.map(str::to_owned),
        name: shared.name.to_owned(),
        is_device: shared.is_device,
        is_start_up: shared.is_start_up(),
        n_ranks: shared.having.len() as u64,
        n_missing: shared.group_size.unwrap_or(0).saturating_sub(shared.having.len() as u64),
        places: places.map(|(place, _)| *place).collect(),
        is_ambiguous: shared.is_ambiguous,
        n_calls: if is_matched { Some(shared.n_calls) } else { shared.calls_of_each() },
        transfer_ns: is_matched.then(|| sum(shared.shortest_ns.iter().flatten().copied())),
        waiting_ns: is_matched.then(|| sum(calls.map(|call| call.waiting_ns))),
        bytes: bytes.reduce(u64::saturating_add),
        n_failed: of_all(|sums| sums.n_failed),
        failed_ns: of_all(|sums| sums.failed_ns),
    }
}

/// Puts what the beginnings of asynchronous calls say of them into the row of the waits for them.
fn add_beginnings(rows: &mut Vec<CollectiveWaiting>) {
    let key = |row: &CollectiveWaiting, part: &str| {
        let name = row.name.strip_suffix(part)?.to_owned();
        Some((row.group.clone(), row.places.clone(), name))
    };
    let (begun, mut others): (Vec<_>, Vec<_>) =
        std::mem::take(rows).into_iter().partition(|row| key(row, BEGIN).is_some());
    for one in begun {
        let is_its_wait = |row: &&mut CollectiveWaiting| key(row, WAIT) == key(&one, BEGIN);
        let Some(wait) = others.iter_mut().find(is_its_wait) else {
            others.push(one);
            continue;
        };
        wait.bytes = wait.bytes.into_iter().chain(one.bytes).reduce(u64::saturating_add);
        wait.n_failed = wait.n_failed.saturating_add(one.n_failed);
        wait.failed_ns = wait.failed_ns.saturating_add(one.failed_ns);
    }
    *rows = others;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::Interval;
    use crate::job::Ended;
    use crate::questions::ranks::PlacedClock;
    use crate::questions::ranks::shared_calls::shared_calls;

    fn rank(calls: &[(u64, u64)]) -> RankSummary {
        let interval = |&(start_ns, end_ns): &(u64, u64)| Interval { start_ns, end_ns };
        let calls: Vec<Interval> = calls.iter().map(interval).collect();
        RankSummary {
            collectives: vec![CollectiveSums {
                name: "all_reduce".into(),
                is_synchronising: true,
                count: calls.len() as u64,
                total_ns: calls.iter().map(Interval::length_ns).sum(),
                bytes: Some(100),
                calls,
                ..CollectiveSums::default()
            }],
            ended: Ended::Finished,
            ..RankSummary::default()
        }
    }

    fn of(ranks: &[RankSummary], error_ns: Option<u64>) -> Option<Waiting> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let clock = PlacedClock { start_ns: Some(0), error_ns, ..PlacedClock::default() };
        let clocks = Clocks { each: vec![clock; ranks.len()], ..Clocks::default() };
        waiting(&places, &shared_calls(&places), &clocks)
    }

    #[test]
    fn the_shortest_is_the_transfer_and_the_last_to_come_caused_the_rest() {
        // rank 0   |------all_reduce-----|     0 to 24, waits 18
        // rank 1             |all_reduce-|     11 to 24, waits 7
        // rank 2                    |----|     18 to 24: caused 18
        let ranks = [rank(&[(0, 24)]), rank(&[(11, 24)]), rank(&[(18, 24)])];
        for error_ns in [None, Some(0), Some(100)] {
            let found = of(&ranks, error_ns).unwrap();
            let figures: Vec<[u64; 5]> = found
                .ranks
                .iter()
                .map(|r| [r.total_ns, r.transfer_ns, r.waiting_ns, r.n_last, r.caused_ns])
                .collect();
            assert_eq!(figures, [[24, 6, 18, 0, 0], [13, 6, 7, 0, 0], [6, 6, 0, 1, 18]]);
            assert_eq!(found.ranks[0].waiting_ratio, Some(0.75));
            let all = &found.collectives[0];
            assert_eq!((all.transfer_ns, all.waiting_ns), (Some(6), Some(25)));
            assert_eq!((all.n_calls, all.bytes), (Some(1), Some(300)));
        }
    }

    #[test]
    fn clocks_tell_the_last_to_come_where_they_are_exact_enough() {
        // rank 0   |---------|       0 to 10
        // rank 1       |-------|     4 to 12: came last, and left late
        // rank 2   |-----|           1 to 7, the shortest
        let ranks = [rank(&[(0, 10)]), rank(&[(4, 12)]), rank(&[(1, 7)])];
        let last = |error_ns| -> Vec<u64> {
            let found = of(&ranks, error_ns).unwrap();
            found.ranks.iter().map(|row| row.n_last).collect()
        };
        // 4 and 1 are 3 apart: right within 1 each tells, within 2 does not.
        assert_eq!(last(Some(1)), [0, 1, 0]);
        assert_eq!(last(Some(2)), [0, 0, 1]);
        assert_eq!(last(None), [0, 0, 1]);
    }

    #[test]
    fn members_of_a_group_without_a_file_are_counted() {
        // Of three two are there; what the third took nobody knows.
        let mut ranks = [rank(&[(0, 9)]), rank(&[(5, 9)])];
        for one in &mut ranks {
            one.collectives[0].group_size = Some(3);
        }
        let all = &of(&ranks, None).unwrap().collectives[0];
        assert_eq!((all.n_ranks, all.n_missing, all.waiting_ns), (2, 1, Some(5)));
    }

    #[test]
    fn of_two_that_came_last_nobody_alone_held_the_others_up() {
        let ranks = [rank(&[(0, 9)]), rank(&[(5, 9)]), rank(&[(5, 9)])];
        let found = of(&ranks, None).unwrap();
        let figures: Vec<(u64, u64)> =
            found.ranks.iter().map(|row| (row.waiting_ns, row.n_last)).collect();
        assert_eq!(figures, [(5, 0), (0, 0), (0, 0)]);
    }

    /// Four calls a step, one every 20 µs; in the second of each step rank 0 waits 9 µs for rank 1. Transfer is 1 µs, of calls after the first
    /// 1200 it is 3.
    ///
    /// ```text
    /// rank 0   ... |--wait 9--|1|       the others come together
    /// rank 1   ...            |1|
    /// ```
    fn with_a_late_rank(place: u64, n_calls: u64) -> RankSummary {
        let call = |n: u64| {
            let transfer = if n < 1200 { 1 } else { 3 };
            let waits = if place == 0 && n % 4 == 1 { 9 } else { 0 };
            let end = 20 * n + 15;
            (1000 * (end - transfer - waits), 1000 * end)
        };
        rank(&(0..n_calls).map(call).collect::<Vec<_>>())
    }

    #[test]
    fn of_many_calls_each_counts_and_of_too_many_the_first() {
        let mut ranks = [with_a_late_rank(0, 2400), with_a_late_rank(1, 2400)];
        let figures = |ranks: &[RankSummary]| -> Vec<[u64; 5]> {
            let rows = of(ranks, None).unwrap().ranks.into_iter();
            rows.map(|row| {
                [row.n_calls, row.n_matched, row.transfer_ns, row.waiting_ns, row.caused_ns]
            })
            .collect()
        };
        // 1200 · 1 + 1200 · 3 is what rank 1 takes; rank 0 waits 600 · 9 for it.
        let expected =
            [[2400, 2400, 4_800_000, 5_400_000, 0], [2400, 2400, 4_800_000, 0, 5_400_000]];
        assert_eq!(figures(&ranks), expected);
        // Of the first 1200 of rank 1 the transfer is 1 each, and for 300 of them rank 0 waits.
        ranks[1].collectives[0].calls.truncate(1200);
        let expected =
            [[2400, 1200, 1_200_000, 2_700_000, 0], [2400, 1200, 1_200_000, 0, 2_700_000]];
        assert_eq!(figures(&ranks), expected);
        let all = &of(&ranks, None).unwrap().collectives[0];
        assert_eq!((all.n_calls, all.transfer_ns), (Some(2400), Some(1_200_000)));
    }

    #[test]
    fn the_calls_of_killed_ranks_are_those_that_others_have() {
        // Rank 0 came to one more call than rank 1, which is nobody else's; rank 2 was killed after half of them, all with a transfer of 1.
        let mut ranks =
            [with_a_late_rank(0, 2401), with_a_late_rank(1, 2400), with_a_late_rank(2, 1200)];
        for one in &mut ranks[1..] {
            one.ended = Ended::Killed(9);
        }
        let figures = |ranks: &[RankSummary]| -> Vec<[u64; 4]> {
            let rows = of(ranks, None).unwrap().ranks.into_iter();
            rows.map(|row| [row.n_calls, row.n_matched, row.transfer_ns, row.waiting_ns]).collect()
        };
        let expected = [
            [2401, 2400, 4_800_000, 5_400_000],
            [2400, 2400, 4_800_000, 0],
            [1200, 1200, 1_200_000, 0],
        ];
        assert_eq!(figures(&ranks), expected);
    }

    #[test]
    fn calls_that_differ_in_number_are_shown_unmatched() {
        let found = of(&[rank(&[(0, 9), (10, 12)]), rank(&[(5, 9)])], None).unwrap();
        assert_eq!(found.collectives[0].n_calls, None);
        let row = &found.ranks[0];
        assert_eq!((row.n_calls, row.n_matched, row.waiting_ratio), (2, 0, None));
    }

    #[test]
    fn an_asynchronous_call_counts_once() {
        // begin   |1|       |1|             100 bytes each
        // wait        |--|      |-----|     2 and 5 on rank 0, 2 and 2 on rank 1: rank 0 waits 3
        let of_rank = |second_ns: u64| {
            let mut one = rank(&[(0, 1), (6, 7)]);
            let mut wait = rank(&[(3, 5), (9, 9 + second_ns)]).collectives.remove(0);
            (wait.name, wait.bytes) = ("all_reduce wait".into(), None);
            one.collectives[0].name = "all_reduce begin".into();
            one.collectives[0].n_failed = 1;
            one.collectives.push(wait);
            one
        };
        let found = of(&[of_rank(5), of_rank(2)], None).unwrap();
        let row = &found.ranks[0];
        assert_eq!((row.n_calls, row.n_matched), (2, 2));
        // The host's time in both parts.
        assert_eq!((row.total_ns, row.transfer_ns, row.waiting_ns), (9, 4, 3));
        let [all] = &found.collectives[..] else { panic!("{found:?}") };
        assert_eq!((all.name.as_str(), all.n_calls), ("all_reduce wait", Some(2)));
        assert_eq!((all.waiting_ns, all.bytes, all.n_failed), (Some(3), Some(200), 2));
    }

    #[test]
    fn calls_that_nobody_waited_for_are_counted_and_not_matched() {
        let of_rank = |calls: &[(u64, u64)]| {
            let mut one = rank(calls);
            one.collectives[0].name = "all_reduce begin".into();
            one
        };
        let found = of(&[of_rank(&[(0, 1)]), of_rank(&[(0, 1)])], None).unwrap();
        assert_eq!((found.ranks[0].n_calls, found.ranks[0].n_matched), (1, 0));
        let row = &found.collectives[0];
        assert_eq!((row.n_calls, row.transfer_ns), (Some(1), None));
        let found = of(&[of_rank(&[(0, 1)]), of_rank(&[(0, 1), (2, 3)])], None).unwrap();
        assert_eq!(found.collectives[0].n_calls, None);
    }

    #[test]
    fn one_rank_alone_says_nothing_of_waiting() {
        assert_eq!(of(&[rank(&[(0, 9)])], None), None);
        assert_eq!(of(&[rank(&[(0, 9)]), RankSummary::default()], None), None);
    }
}
