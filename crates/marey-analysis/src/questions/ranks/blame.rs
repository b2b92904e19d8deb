//! For whom did ranks wait, and how long at most?

use std::collections::BTreeMap;

use super::Clocks;
use super::shared_calls::{SharedCalls, in_work};
use crate::intervals::Interval;
use crate::stats::sum;

/// What ranks waited for each other. A rank is not to blame for what it had to wait itself, in other groups, since the call before.
///
/// ```text
/// tp {0, 1}   rank 0 |-|                           rank 1 |-|
/// tp {2, 3}   rank 2 ------late------|-|           rank 3 |~~~~~ 30 ~~~~~|-|     for rank 2
/// cp {0, 2}   rank 0   |~~~~~ 30 ~~~~~~|-|         rank 2                |-|     for rank 2: the same 30, not 60
/// cp {1, 3}   rank 1   |~~~~~ 30 ~~~~~~|-|         rank 3                |-|     for rank 3, which had waited 30: for nobody
/// ```
pub(super) struct Blame<'a> {
    shared: &'a [SharedCalls<'a>],
    /// Of each rank when it waited, in order of time; empty where there is one group.
    waits: Vec<Vec<Wait>>,
    n_last: Vec<u64>,
    /// Of each rank what others waited for it.
    caused_ns: Vec<BTreeMap<u32, u64>>,
}

/// What a rank waited in a call.
struct Wait {
    start_ns: u64,
    waiting_ns: u64,
    /// Index of the collective.
    of: usize,
}

impl<'a> Blame<'a> {
    /// Costs a pass over the calls, and another one where there are several groups.
    pub(super) fn of(n_ranks: usize, shared: &'a [SharedCalls<'_>], clocks: &Clocks) -> Self {
        let mut groups = in_work(shared).map(|one| one.group);
        let first = groups.next();
        let has_groups = groups.any(|group| Some(group) != first);
        let with_waits = (0_u32..).take(if has_groups { n_ranks } else { 0 });
        let mut all = Self {
            shared,
            waits: with_waits.map(|place| waits_of(place, shared)).collect(),
            n_last: vec![0; n_ranks],
            caused_ns: vec![BTreeMap::new(); n_ranks],
        };
        in_work(shared).for_each(|one| all.add(one, &last_to_come(one, clocks)));
        all
    }

    /// Adds the calls of a collective, of each of which it is known who came last.
    fn add(&mut self, one: &SharedCalls<'_>, last: &[Option<u32>]) {
        let handed_on = |(at, late): (usize, &Option<u32>)| self.handed_on_ns(one, (*late)?, at);
        let handed_on: Vec<Option<u64>> = last.iter().enumerate().map(handed_on).collect();
        for late in last.iter().flatten() {
            self.n_last[*late as usize] += 1;
        }
        for (place, _) in &one.matched {
            for (at, call) in one.calls_of(*place).enumerate() {
                let Some((late, of_late_ns)) = last[at].zip(handed_on[at]) else { continue };
                if late == *place {
                    continue;
                }
                let meanwhile_ns = match of_late_ns {
                    0 => 0,
                    _ => self.handed_on_ns(one, *place, at).unwrap_or_default(),
                };
                let handed_on_ns = of_late_ns.saturating_sub(meanwhile_ns);
                let caused_ns = self.caused_ns[late as usize].entry(*place).or_default();
                let waiting_ns = call.waiting_ns.saturating_sub(handed_on_ns);
                *caused_ns = caused_ns.saturating_add(waiting_ns);
            }
        }
    }

    /// What a rank waited in other groups between a call of a collective and the one before.
    fn handed_on_ns(&self, one: &SharedCalls<'_>, place: u32, at: usize) -> Option<u64> {
        let calls = one.matched_of(place)?;
        let call = calls.get(at)?;
        let Some(waits) = self.waits.get(place as usize) else { return Some(0) };
        let before = at.checked_sub(1).and_then(|before| calls.get(before));
        let first =
            before.map_or(0, |call| waits.partition_point(|wait| wait.start_ns < call.end_ns));
        let since = waits.iter().skip(first).take_while(|wait| wait.start_ns < call.start_ns);
        let elsewhere = since.filter(|wait| self.shared[wait.of].group != one.group);
        Some(sum(elsewhere.map(|wait| wait.waiting_ns)))
    }

    /// Of a rank how often it came last, and the most that one other rank waited for it.
    pub(super) fn of_rank(&self, place: u32) -> (u64, u64) {
        let place = place as usize;
        (self.n_last[place], self.caused_ns[place].values().max().copied().unwrap_or_default())
    }
}

/// When a rank waited in calls, in order of time.
fn waits_of(place: u32, shared: &[SharedCalls<'_>]) -> Vec<Wait> {
    let in_work = shared.iter().enumerate().filter(|(_, one)| !one.is_start_up());
    let each = in_work.flat_map(|(of, one)| one.calls_of(place).map(move |call| (of, call)));
    let wait = |(of, call): (usize, super::shared_calls::RankCall)| Wait {
        start_ns: call.time.start_ns,
        waiting_ns: call.waiting_ns,
        of,
    };
    let mut waits: Vec<Wait> = each.map(wait).collect();
    waits.sort_by_key(|wait| wait.start_ns);
    waits
}

/// Of each call the rank that the others waited for; `None` where nobody waited, or several came last. The last to come is known from aligned clocks
/// where the last two came further apart than the clocks may be off; else it is the rank with the shortest duration, and nobody alone where
/// several have that.
fn last_to_come(one: &SharedCalls<'_>, clocks: &Clocks) -> Vec<Option<u32>> {
    let is_meeting = one.is_meeting();
    let arrival = |(place, call): (u32, &Interval)| {
        let clock = clocks.each.get(place as usize).filter(|_| is_meeting)?;
        Some((clock.start_ns?.saturating_add(call.start_ns), clock.error_ns?, place))
    };
    let of_call = |(at, shortest_ns): (usize, &Option<u64>)| {
        let shortest_ns = (*shortest_ns)?;
        let each = one.matched.iter();
        let calls: Vec<(u32, &Interval)> =
            each.filter_map(|(place, calls)| Some((*place, calls.get(at)?))).collect();
        let mut fastest = calls.iter().filter(|(_, call)| call.length_ns() == shortest_ns);
        let (first, n_others) = (fastest.next()?.0, fastest.count());
        if n_others + 1 == calls.len() {
            return None;
        }
        let arrivals: Option<Vec<(u64, u64, u32)>> = calls.into_iter().map(arrival).collect();
        let mut arrivals = arrivals.unwrap_or_default();
        arrivals.sort_unstable();
        match arrivals[..] {
            [.., (before_ns, before_error_ns, _), (last_ns, error_ns, last)]
                if last_ns - before_ns > error_ns.saturating_add(before_error_ns) =>
            {
                Some(last)
            }
            _ => (n_others == 0).then_some(first),
        }
    };
    one.shortest_ns.iter().enumerate().map(of_call).collect()
}

#[cfg(test)]
mod tests {
    use crate::intervals::Interval;
    use crate::job::{CollectiveSums, Ended, RankSummary};
    use crate::questions::ranks::waiting_by_durations;

    #[test]
    fn of_overlapping_groups_a_late_rank_costs_what_it_is_late_and_its_victims_nothing() {
        // 20 steps; tp {0, 1} and {2, 3}, then cp {0, 2} and {1, 3}. Rank 2 works 40 instead of 10.
        let calls = |times: [u64; 2]| {
            let call = |step: u64| Interval {
                start_ns: 100 * step + times[0],
                end_ns: 100 * step + times[1],
            };
            (0..20).map(call).collect::<Vec<Interval>>()
        };
        let rank = |tp: (&str, [u64; 2]), cp: (&str, [u64; 2])| {
            let sums = |(group, times): (&str, [u64; 2])| CollectiveSums {
                group: Some(group.into()),
                group_size: Some(2),
                name: "all_reduce".into(),
                count: 20,
                calls: calls(times),
                ..CollectiveSums::default()
            };
            RankSummary {
                collectives: vec![sums(tp), sums(cp)],
                ended: Ended::Finished,
                ..RankSummary::default()
            }
        };
        let ranks = [
            rank(("tp:0", [10, 11]), ("cp:0", [12, 43])),
            rank(("tp:0", [10, 11]), ("cp:1", [12, 43])),
            rank(("tp:1", [40, 41]), ("cp:0", [42, 43])),
            rank(("tp:1", [10, 41]), ("cp:1", [42, 43])),
        ];
        let found = waiting_by_durations(&ranks.each_ref()).unwrap();
        let figures: Vec<[u64; 3]> =
            found.ranks.iter().map(|row| [row.waiting_ns, row.n_last, row.caused_ns]).collect();
        assert_eq!(figures, [[600, 0, 0], [600, 0, 0], [0, 40, 600], [600, 20, 0]]);
        // From 10 of the first step to 43 of the last.
        assert_eq!(found.ranks[3].within_ns, 1_933);
    }
}
