//! How much of communication was transfer, how much waiting for other ranks, and for which?

use std::cmp::Reverse;

use super::communication_sums::{CommunicationSums, communication_sums};
use super::over_ranks::{rounded_mean, share};
use super::shared_calls::{Naming, SharedCalls, called, used_in_work};
use super::unseen::error_of_sum;
use super::{Clocks, CollectiveWaiting, RankWaitingRow, Waiting, placed};
use crate::intervals::Interval;
use crate::job::{BEGIN, CollectiveSums, RankSummary, WAIT};

/// What one matched call was on one rank.
pub(super) struct RankCall<'a> {
    /// Which of those that are looked at.
    at: usize,
    pub(super) place: u32,
    pub(super) time: Interval,
    pub(super) waiting_ns: u64,
    /// All calls of the rank.
    sums: &'a CommunicationSums,
    pub(super) of: &'a SharedCalls<'a>,
}

/// One matched call over its ranks.
#[derive(Clone, Copy, Default)]
struct Meeting {
    n_ranks: u64,
    total_ns: u64,
    shortest_ns: u64,
    /// Ranks whose call was the shortest, and the first of them.
    n_shortest: u64,
    shortest_place: u32,
    /// When the last rank came and when the one before it, each within what its clock may be off.
    last: Arrival,
    before_last: Arrival,
    /// The clock of a rank is not known well enough to say who came when.
    is_undated: bool,
}

/// A rank that came.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at_ns: u64,
    error_ns: u64,
    place: u32,
}

/// Communication over ranks; `None` when no collective of a group is on two. The shortest of the durations of a call is its transfer, and
/// what other ranks take longer is waiting, whatever their clocks say. The last to come is told by aligned clocks where the last two came
/// further apart than the clocks may be off; else it is the rank with the shortest duration, and nobody alone where several have that.
/// What ranks wait for each other when they start is in its own collective only. Of many calls some are looked at, and the rest is
/// estimated ([`communication_sums`]).
///
/// ```text
/// rank 0   |------all_reduce-----|     24, waits 18
/// rank 1             |all_reduce-|     13, waits 7
/// rank 2                    |----|      6, the last to come: caused (18 + 7) / 2
/// ```
pub(super) fn waiting(
    places: &[&RankSummary],
    shared: &[SharedCalls<'_>],
    clocks: &Clocks,
) -> Option<Waiting> {
    if shared.iter().all(|one| one.having.len() < 2) {
        return None;
    }
    let mut rows: Vec<RankWaitingRow> = placed(places).map(row).collect();
    let mut collectives: Vec<CollectiveWaiting> = Vec::new();
    for one in shared {
        let meetings = meetings(one, clocks);
        let sums = sums(one, &meetings);
        if !one.is_start_up() {
            let mut waited_ns = vec![0_u64; meetings.len()];
            for_each(one, &meetings, &sums, |call| {
                if let Some(of_call) = waited_ns.get_mut(call.at) {
                    *of_call = of_call.saturating_add(call.all_waiting_ns());
                }
            });
            let last: Vec<Option<u32>> = meetings.iter().map(Meeting::last_to_come).collect();
            for of_rank in &sums {
                if let Some(row) = rows.get_mut(of_rank.place as usize) {
                    add(row, of_rank, &last);
                }
            }
            for ((meeting, last), waited_ns) in meetings.iter().zip(last).zip(waited_ns) {
                blame(&mut rows, meeting, last, waited_ns);
            }
        }
        collectives.push(of_collective(one, &sums));
    }
    for row in &mut rows {
        let both_ns = row.transfer_ns.saturating_add(row.waiting_ns);
        row.waiting_ratio = share(row.waiting_ns, both_ns);
    }
    rows.retain(|row| row.n_calls > 0);
    add_beginnings(&mut collectives);
    collectives.sort_by_key(|row| Reverse(row.waiting_ns));
    Some(Waiting {
        ranks: rows,
        collectives,
    })
}

/// Calls `visit` with each matched call of each rank, but those of the start.
pub(super) fn matched_calls(shared: &[SharedCalls<'_>], mut visit: impl FnMut(RankCall<'_>)) {
    for one in shared.iter().filter(|one| !one.is_start_up()) {
        let meetings = meetings(one, &Clocks::default());
        for_each(one, &meetings, &sums(one, &meetings), &mut visit);
    }
}

fn row((place, rank): (u32, &RankSummary)) -> RankWaitingRow {
    let sum =
        |of: fn(&CollectiveSums) -> u64| used_in_work(rank).map(of).fold(0, u64::saturating_add);
    RankWaitingRow {
        place,
        n_calls: called(rank)
            .map(|one| one.count)
            .fold(0, u64::saturating_add),
        total_ns: sum(|one| one.total_ns),
        ..RankWaitingRow::default()
    }
}

/// The matched calls in order; those that only one rank has are in it, and count for nothing.
fn meetings(shared: &SharedCalls<'_>, clocks: &Clocks) -> Vec<Meeting> {
    let mut meetings: Vec<Meeting> = Vec::new();
    if !shared.is_matched() {
        return meetings;
    }
    for rank in &shared.matched {
        let clock = clocks.each.get(rank.place as usize);
        let dated = clock.and_then(|clock| Some((clock.start_ns?, clock.error_ns?)));
        let dated = dated.filter(|_| shared.is_meeting());
        for (at, call) in rank.calls().enumerate() {
            if meetings.len() <= at {
                meetings.push(Meeting::default());
            }
            if let Some(meeting) = meetings.get_mut(at) {
                meeting.join(rank.place, call, dated);
            }
        }
    }
    meetings
}

impl Meeting {
    fn join(&mut self, place: u32, call: Interval, dated: Option<(u64, u64)>) {
        let ns = call.length_ns();
        if self.n_ranks == 0 || ns < self.shortest_ns {
            (self.shortest_ns, self.n_shortest, self.shortest_place) = (ns, 1, place);
        } else if ns == self.shortest_ns {
            self.n_shortest += 1;
        }
        self.total_ns = self.total_ns.saturating_add(ns);
        match dated {
            None => self.is_undated = true,
            Some((start_ns, error_ns)) => {
                let arrival = Arrival {
                    at_ns: start_ns.saturating_add(call.start_ns),
                    error_ns,
                    place,
                };
                if self.n_ranks == 0 || arrival > self.last {
                    self.before_last = std::mem::replace(&mut self.last, arrival);
                } else {
                    self.before_last = self.before_last.max(arrival);
                }
            }
        }
        self.n_ranks += 1;
    }

    fn is_shared(&self) -> bool {
        self.n_ranks > 1
    }

    fn waiting_ns(&self) -> u64 {
        let transfer_ns = self.shortest_ns.saturating_mul(self.n_ranks);
        self.total_ns.saturating_sub(transfer_ns)
    }

    /// The one that the others waited for; `None` when nobody waited, or several came last.
    fn last_to_come(&self) -> Option<u32> {
        if !self.is_shared() || self.waiting_ns() == 0 {
            return None;
        }
        let (last, before) = (self.last, self.before_last);
        let apart_ns = last.at_ns.saturating_sub(before.at_ns);
        if !self.is_undated && apart_ns > last.error_ns.saturating_add(before.error_ns) {
            return Some(last.place);
        }
        (self.n_shortest == 1).then_some(self.shortest_place)
    }
}

/// What the calls of each matched rank come to.
fn sums(shared: &SharedCalls<'_>, meetings: &[Meeting]) -> Vec<CommunicationSums> {
    let shortest = meetings.iter();
    let shortest = shortest.map(|one| one.is_shared().then_some(one.shortest_ns));
    communication_sums(&shared.matched, &shortest.collect::<Vec<_>>())
}

fn for_each(
    shared: &SharedCalls<'_>,
    meetings: &[Meeting],
    sums: &[CommunicationSums],
    mut visit: impl FnMut(RankCall<'_>),
) {
    for (rank, sums) in shared.matched.iter().zip(sums) {
        let each = rank.calls().zip(meetings).enumerate();
        for (at, (time, meeting)) in each.filter(|(_, (_, meeting))| meeting.is_shared()) {
            visit(RankCall {
                at,
                place: rank.place,
                time,
                waiting_ns: time.length_ns().saturating_sub(meeting.shortest_ns),
                sums,
                of: shared,
            });
        }
    }
}

impl RankCall<'_> {
    /// What it and calls that are not looked at waited.
    pub(super) fn all_waiting_ns(&self) -> u64 {
        self.sums.of_waiting.of(self.waiting_ns, self.at == 0)
    }

    /// How long they were.
    pub(super) fn all_ns(&self) -> u64 {
        let transfer_ns = self.time.length_ns().saturating_sub(self.waiting_ns);
        let transfer_ns = self.sums.of_transfer.of(transfer_ns, self.at == 0);
        transfer_ns.saturating_add(self.all_waiting_ns())
    }
}

fn add(row: &mut RankWaitingRow, sums: &CommunicationSums, last: &[Option<u32>]) {
    let is_its = |last: &&Option<u32>| **last == Some(row.place);
    let n_first = last.iter().take(1).filter(is_its).count() as u64;
    let n_others = last.iter().skip(1).filter(is_its).count() as u64;
    let n_last = n_first.saturating_add(sums.of_count.of(n_others, false));
    row.n_last = row.n_last.saturating_add(n_last);
    row.n_matched = row.n_matched.saturating_add(sums.n_calls);
    row.n_looked_at += sums.n_looked_at;
    row.transfer_ns = row.transfer_ns.saturating_add(sums.transfer_ns);
    row.waiting_ns = row.waiting_ns.saturating_add(sums.waiting_ns);
    let errors = row.error_ns.into_iter().chain(sums.error_ns);
    row.error_ns = errors.reduce(error_of_sum);
}

/// Writes what the others waited to the rank that came last, on average over the others.
fn blame(rows: &mut [RankWaitingRow], meeting: &Meeting, last: Option<u32>, waited_ns: u64) {
    if let Some(row) = last.and_then(|at| rows.get_mut(at as usize)) {
        let n_others = meeting.n_ranks.saturating_sub(1);
        let caused_ns = rounded_mean(waited_ns, n_others).unwrap_or_default();
        row.caused_ns = row.caused_ns.saturating_add(caused_ns);
    }
}

fn of_collective(shared: &SharedCalls<'_>, sums: &[CommunicationSums]) -> CollectiveWaiting {
    // Of those with the most calls, one may not know how long its own were.
    let matched = sums.iter().filter(|one| one.n_looked_at > 0);
    let whole = matched.max_by_key(|one| (one.n_calls, Reverse(one.error_ns)));
    let waiting_ns = sums.iter().map(|sums| sums.waiting_ns);
    let is_shared_name = shared.naming != Naming::Unique;
    let places = shared.having.iter().filter(|_| is_shared_name);
    let bytes = shared.having.iter().filter_map(|(_, sums)| sums.bytes);
    CollectiveWaiting {
        group: shared.group.map(str::to_owned),
        name: shared.name.to_owned(),
        is_device: shared.is_device,
        is_start_up: shared.is_start_up(),
        n_ranks: shared.having.len() as u64,
        places: places.map(|(place, _)| *place).collect(),
        is_ambiguous: shared.naming == Naming::Several,
        n_calls: whole.map_or_else(|| shared.calls_of_each(), |_| Some(shared.n_calls)),
        transfer_ns: whole.map(|whole| whole.transfer_ns),
        waiting_ns: whole.map(|_| waiting_ns.fold(0, u64::saturating_add)),
        error_ns: whole.and_then(|whole| whole.error_ns),
        bytes: bytes.reduce(u64::saturating_add),
        n_failed: sum_of(shared, |sums| sums.n_failed),
        failed_ns: sum_of(shared, |sums| sums.failed_ns),
    }
}

/// Puts what the beginnings of asynchronous calls say of them into the row of the waits for them.
fn add_beginnings(rows: &mut Vec<CollectiveWaiting>) {
    let key = |row: &CollectiveWaiting, part: &str| {
        let name = row.name.strip_suffix(part)?.to_owned();
        Some((row.group.clone(), row.places.clone(), name))
    };
    let (begun, mut others): (Vec<_>, Vec<_>) = std::mem::take(rows)
        .into_iter()
        .partition(|row| key(row, BEGIN).is_some());
    for one in begun {
        let is_its_wait = |row: &&mut CollectiveWaiting| key(row, WAIT) == key(&one, BEGIN);
        let Some(wait) = others.iter_mut().find(is_its_wait) else {
            others.push(one);
            continue;
        };
        wait.bytes = wait
            .bytes
            .into_iter()
            .chain(one.bytes)
            .reduce(u64::saturating_add);
        wait.n_failed = wait.n_failed.saturating_add(one.n_failed);
        wait.failed_ns = wait.failed_ns.saturating_add(one.failed_ns);
    }
    *rows = others;
}

/// A figure of all ranks that have the collective.
fn sum_of(shared: &SharedCalls<'_>, figure: fn(&CollectiveSums) -> u64) -> u64 {
    let having = shared.having.iter();
    having
        .map(|(_, sums)| figure(sums))
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
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
                stride: 1,
                calls,
                ..CollectiveSums::default()
            }],
            ended: Ended::Finished,
            ..RankSummary::default()
        }
    }

    fn of(ranks: &[RankSummary], error_ns: Option<u64>) -> Option<Waiting> {
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let clock = PlacedClock {
            start_ns: Some(0),
            error_ns,
            ..PlacedClock::default()
        };
        let clocks = Clocks {
            each: vec![clock; ranks.len()],
            ..Clocks::default()
        };
        waiting(&places, &shared_calls(&places), &clocks)
    }

    #[test]
    fn the_shortest_is_the_transfer_and_the_last_to_come_caused_the_rest() {
        // rank 0   |------all_reduce-----|     0 to 24, waits 18
        // rank 1             |all_reduce-|     11 to 24, waits 7
        // rank 2                    |----|     18 to 24: caused (18 + 7) / 2, rounded up
        let ranks = [rank(&[(0, 24)]), rank(&[(11, 24)]), rank(&[(18, 24)])];
        for error_ns in [None, Some(0), Some(100)] {
            let found = of(&ranks, error_ns).unwrap();
            let figures: Vec<[u64; 5]> = found
                .ranks
                .iter()
                .map(|r| {
                    [
                        r.total_ns,
                        r.transfer_ns,
                        r.waiting_ns,
                        r.n_last,
                        r.caused_ns,
                    ]
                })
                .collect();
            assert_eq!(
                figures,
                [[24, 6, 18, 0, 0], [13, 6, 7, 0, 0], [6, 6, 0, 1, 13]]
            );
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
    fn of_two_that_came_last_nobody_alone_held_the_others_up() {
        let ranks = [rank(&[(0, 9)]), rank(&[(5, 9)]), rank(&[(5, 9)])];
        let found = of(&ranks, None).unwrap();
        let figures: Vec<(u64, u64)> = found
            .ranks
            .iter()
            .map(|row| (row.waiting_ns, row.n_last))
            .collect();
        assert_eq!(figures, [(5, 0), (0, 0), (0, 0)]);
    }

    /// Keeps of the calls of each rank those of a stride.
    fn thinned(ranks: &mut [RankSummary], strides: &[u32]) {
        for (one, stride) in ranks.iter_mut().zip(strides) {
            let sums = &mut one.collectives[0];
            sums.calls = crate::job::kept(&sums.calls, 1, *stride).collect();
            sums.stride = *stride;
        }
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
    fn of_calls_that_are_not_looked_at_transfer_is_one_and_waiting_the_rest() {
        let mut ranks = [with_a_late_rank(0, 2400), with_a_late_rank(1, 2400)];
        let figures = |ranks: &[RankSummary]| -> Vec<[u64; 3]> {
            let rows = of(ranks, None).unwrap().ranks.into_iter();
            rows.map(|row| [row.n_matched, row.transfer_ns, row.waiting_ns])
                .collect()
        };
        // 1200 · 1 + 1200 · 3 is what rank 1 takes, so that its time tells the transfer; rank 0 waits 600 · 9.
        let expected = [[2400, 4_800_000, 5_400_000], [2400, 4_800_000, 0]];
        assert_eq!(figures(&ranks), expected);
        thinned(&mut ranks, &[4, 4]);
        assert_eq!(figures(&ranks), expected);
        let found = of(&ranks, None).unwrap();
        let (row, late) = (&found.ranks[0], &found.ranks[1]);
        assert_eq!(
            (row.error_ns, found.collectives[0].error_ns),
            (Some(0), Some(0))
        );
        assert_eq!(row.n_looked_at, ranks[0].collectives[0].calls.len() as u64);
        let all = &found.collectives[0];
        assert_eq!(
            (all.transfer_ns, all.waiting_ns),
            (Some(4_800_000), Some(5_400_000))
        );
        // Some 150 of about 600 calls that are looked at are such: a standard error of a fourteenth.
        assert!(late.n_last.abs_diff(600) < 100, "{found:?}");
        // What the others waited is known better, but for the rounding of each call.
        assert!(late.caused_ns.abs_diff(5_400_000) < 600, "{found:?}");
    }

    #[test]
    fn the_calls_of_killed_ranks_are_those_that_others_have() {
        // Rank 0 came to one more call than rank 1, which is nobody else's; rank 2 was killed after half of them, all with a transfer of 1.
        let mut ranks = [
            with_a_late_rank(0, 2401),
            with_a_late_rank(1, 2400),
            with_a_late_rank(2, 1200),
        ];
        for one in &mut ranks[1..] {
            one.ended = Ended::Killed(9);
        }
        let figures = |ranks: &[RankSummary]| -> Vec<[u64; 4]> {
            let rows = of(ranks, None).unwrap().ranks.into_iter();
            rows.map(|row| [row.n_calls, row.n_matched, row.transfer_ns, row.waiting_ns])
                .collect()
        };
        let expected = [
            [2401, 2400, 4_800_000, 5_400_000],
            [2400, 2400, 4_800_000, 0],
            [1200, 1200, 1_200_000, 0],
        ];
        assert_eq!(figures(&ranks), expected);
        thinned(&mut ranks, &[4, 4, 2]);
        let mut found = figures(&ranks);
        // How much of the time of rank 0 is in its last call, of 3 µs, is estimated.
        assert!(found[0][3].abs_diff(expected[0][3]) <= 3000, "{found:?}");
        found[0][3] = expected[0][3];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_estimate_lies_within_its_error() {
        // Either rank waits for the other now and then, and now and then long; transfer scatters, too.
        let mut state = 7_u64;
        let mut drawn = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let mut calls = [Vec::new(), Vec::new()];
        for n in 0..4000_u64 {
            let (end, transfer) = (1_000_000 * (n + 1), 1000 + drawn(1000));
            let late = if drawn(50) == 0 { 20_000 } else { 400 };
            let waits = [drawn(late), 0];
            let at = usize::from(drawn(3) == 0);
            calls[at].push((end - transfer - waits[0], end));
            calls[1 - at].push((end - transfer, end));
        }
        let mut ranks = calls.map(|calls| rank(&calls));
        let exact = of(&ranks, None).unwrap().ranks;
        thinned(&mut ranks, &[4, 4]);
        for (row, exact) in of(&ranks, None).unwrap().ranks.iter().zip(&exact) {
            let error_ns = row.error_ns.unwrap();
            assert_eq!(exact.error_ns, None);
            assert_eq!(row.transfer_ns + row.waiting_ns, row.total_ns);
            let off_ns = row.transfer_ns.abs_diff(exact.transfer_ns);
            assert!((1..2 * error_ns).contains(&off_ns), "{row:?} {exact:?}");
            assert!(50 * error_ns < row.transfer_ns, "{row:?}");
        }
    }

    #[test]
    fn a_long_first_call_says_nothing_of_the_others() {
        // Rank 0 waits 5 s in the first call, until rank 1 has started, and 600 times 9 µs afterwards.
        let mut ranks = [with_a_late_rank(0, 2400), with_a_late_rank(1, 2400)];
        for one in &mut ranks {
            for call in &mut one.collectives[0].calls {
                call.start_ns += 5_000_000_000;
                call.end_ns += 5_000_000_000;
            }
        }
        let sums = &mut ranks[0].collectives[0];
        sums.calls[0].start_ns = 0;
        sums.total_ns = sums.calls.iter().map(Interval::length_ns).sum();
        thinned(&mut ranks, &[4, 4]);
        let places: Vec<&RankSummary> = ranks.iter().collect();
        let mut later_ns = 0;
        matched_calls(&shared_calls(&places), |call| {
            if call.at > 0 {
                later_ns += call.all_waiting_ns();
            }
        });
        assert!(later_ns.abs_diff(5_400_000) < 600, "{later_ns}");
    }

    #[test]
    fn calls_that_differ_in_number_are_shown_unmatched() {
        let found = of(&[rank(&[(0, 9), (10, 12)]), rank(&[(5, 9)])], None).unwrap();
        assert_eq!(found.collectives[0].n_calls, None);
        let row = &found.ranks[0];
        assert_eq!(
            (row.n_calls, row.n_matched, row.waiting_ratio),
            (2, 0, None)
        );
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
        let [all] = &found.collectives[..] else {
            panic!("{found:?}")
        };
        assert_eq!(
            (all.name.as_str(), all.n_calls),
            ("all_reduce wait", Some(2))
        );
        assert_eq!(
            (all.waiting_ns, all.bytes, all.n_failed),
            (Some(3), Some(200), 2)
        );
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
