//! How much of communication was transfer, how much waiting for other ranks, and for which?

use std::cmp::Reverse;

use super::over_ranks::{rounded_mean, share};
use super::shared_calls::{BEGIN, Matched, Naming, SharedCalls, WAIT, called, used_in_work};
use super::{Clocks, CollectiveWaiting, RankWaitingRow, Waiting, placed};
use crate::intervals::Interval;
use crate::job::{CollectiveSums, RankSummary};

/// What one matched call was on one rank.
pub(super) struct RankCall<'a> {
    /// Which of those that are looked at.
    at: usize,
    pub(super) place: u32,
    pub(super) time: Interval,
    pub(super) waiting_ns: u64,
    pub(super) rank: &'a Matched<'a>,
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
/// What ranks wait for each other when they start is in its own collective only. Of many calls some are looked at, and stand for all.
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
        let mut sums = vec![Sums::default(); meetings.len()];
        for_each(one, &meetings, |call| {
            if let Some(of_call) = sums.get_mut(call.at) {
                of_call.add(&call);
            }
            if !one.is_start_up() {
                add(&mut rows, &call);
            }
        });
        if !one.is_start_up() {
            let each = meetings.iter().zip(&sums);
            each.for_each(|(meeting, sums)| blame(&mut rows, meeting, sums.waiting_ns, one));
        }
        collectives.push(of_collective(one, &meetings, &sums));
    }
    for row in &mut rows {
        let both_ns = row.transfer_ns.saturating_add(row.waiting_ns);
        row.waiting_ratio = share(row.waiting_ns, both_ns);
        // Of how many calls one is looked at is so on average.
        row.n_matched = row.n_matched.min(row.n_calls);
        row.n_last = row.n_last.min(row.n_matched);
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
        for_each(one, &meetings, &mut visit);
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

fn for_each<'a>(
    shared: &'a SharedCalls<'a>,
    meetings: &[Meeting],
    mut visit: impl FnMut(RankCall<'a>),
) {
    if !shared.is_matched() {
        return;
    }
    for rank in &shared.matched {
        let each = rank.calls().zip(meetings).enumerate();
        for (at, (time, meeting)) in each.filter(|(_, (_, meeting))| meeting.is_shared()) {
            visit(RankCall {
                at,
                place: rank.place,
                time,
                waiting_ns: time.length_ns().saturating_sub(meeting.shortest_ns),
                rank,
                of: shared,
            });
        }
    }
}

/// What calls stand for that are looked at, each over its ranks.
#[derive(Clone, Copy, Default)]
struct Sums {
    transfer_ns: u64,
    waiting_ns: u64,
}

impl Sums {
    fn add(&mut self, call: &RankCall<'_>) {
        self.transfer_ns = self.transfer_ns.saturating_add(call.all_transfer_ns());
        self.waiting_ns = self.waiting_ns.saturating_add(call.all_waiting_ns());
    }
}

impl RankCall<'_> {
    /// What it and calls that are not looked at waited.
    fn all_waiting_ns(&self) -> u64 {
        self.rank.of_all(self.waiting_ns)
    }

    /// The rest of their time.
    fn all_transfer_ns(&self) -> u64 {
        let all_ns = self.rank.of_all(self.time.length_ns());
        all_ns.saturating_sub(self.all_waiting_ns())
    }
}

fn add(rows: &mut [RankWaitingRow], call: &RankCall<'_>) {
    if let Some(row) = rows.get_mut(call.place as usize) {
        let waiting_ns = call.rank.of_all(call.waiting_ns);
        let transfer_ns = call
            .rank
            .of_all(call.time.length_ns())
            .saturating_sub(waiting_ns);
        row.n_matched += u64::from(call.of.stride);
        row.transfer_ns = row.transfer_ns.saturating_add(transfer_ns);
        row.waiting_ns = row.waiting_ns.saturating_add(waiting_ns);
    }
}

/// Writes what the others waited to the rank that came last, on average over the others.
fn blame(rows: &mut [RankWaitingRow], meeting: &Meeting, waiting_ns: u64, of: &SharedCalls<'_>) {
    let Some(row) = meeting
        .last_to_come()
        .and_then(|at| rows.get_mut(at as usize))
    else {
        return;
    };
    let n_others = meeting.n_ranks.saturating_sub(1);
    let caused_ns = rounded_mean(waiting_ns, n_others).unwrap_or_default();
    row.n_last += u64::from(of.stride);
    row.caused_ns = row.caused_ns.saturating_add(caused_ns);
}

fn of_collective(
    shared: &SharedCalls<'_>,
    meetings: &[Meeting],
    sums: &[Sums],
) -> CollectiveWaiting {
    let is_matched = meetings.iter().any(Meeting::is_shared);
    let mean = |(meeting, sums): (&Meeting, &Sums)| rounded_mean(sums.transfer_ns, meeting.n_ranks);
    let transfer_ns = meetings.iter().zip(sums).filter_map(mean);
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
        n_calls: if is_matched {
            Some(shared.n_calls)
        } else {
            shared.calls_of_each()
        },
        transfer_ns: is_matched.then(|| transfer_ns.fold(0, u64::saturating_add)),
        waiting_ns: is_matched.then(|| waiting_ns.fold(0, u64::saturating_add)),
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

    #[test]
    fn calls_that_are_looked_at_stand_for_all() {
        // Four calls a step, 2 400 in all; in the second of each step rank 0 waits 9 for rank 1, and all transfer 1. Microseconds.
        let calls = |rank: u64| -> Vec<(u64, u64)> {
            let waits = |n: u64| if rank == 0 && n % 4 == 1 { 9 } else { 0 };
            let call = |n: u64| (1000 * (20 * n + 9 - waits(n)), 1000 * (20 * n + 10));
            (0..2400).map(call).collect()
        };
        let mut ranks = [rank(&calls(0)), rank(&calls(1))];
        let all = of(&ranks, None).unwrap().ranks;
        assert_eq!((all[0].waiting_ns, all[0].n_matched), (600 * 9000, 2400));
        for one in &mut ranks {
            let sums = &mut one.collectives[0];
            sums.calls = crate::job::kept(&sums.calls, 1, 4).collect();
            sums.stride = 4;
        }
        let found = of(&ranks, None).unwrap();
        let row = &found.ranks[0];
        // Some 150 of about 600 calls that are looked at are such: a standard error of a fourteenth.
        let is_near = |found: u64, truth: u64| found.abs_diff(truth) < truth / 6;
        assert!(is_near(row.waiting_ns, 600 * 9000), "{row:?}");
        assert!(is_near(row.transfer_ns, 2400 * 1000), "{row:?}");
        assert!(is_near(found.ranks[1].n_last, 600), "{found:?}");
        // The row's parts are all of its time, also where they stand for it; each call is rounded.
        let both_ns = row.waiting_ns + row.transfer_ns;
        assert!(both_ns.abs_diff(row.total_ns) < 2400, "{row:?}");
        assert_eq!(found.collectives[0].waiting_ns, Some(row.waiting_ns));
        assert_eq!(found.ranks[1].caused_ns, row.waiting_ns);
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
