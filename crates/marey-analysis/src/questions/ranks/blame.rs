//! For whom did ranks wait, and how long at most?

use std::collections::{BTreeMap, BTreeSet};

use super::shared_calls::{Matched, SharedCalls};
use super::waiting::{Meeting, matched_calls};

/// What ranks waited for each other. A rank is not to blame for what it had to wait itself, in other groups, since the call before.
///
/// ```text
/// tp {0, 1}   rank 0 |-|                           rank 1 |-|
/// tp {2, 3}   rank 2 ------late------|-|           rank 3 |~~~~~ 30 ~~~~~|-|     for rank 2
/// cp {0, 2}   rank 0   |~~~~~ 30 ~~~~~~|-|         rank 2                |-|     for rank 2: the same 30, not 60
/// cp {1, 3}   rank 1   |~~~~~ 30 ~~~~~~|-|         rank 3                |-|     for rank 3, which had waited 30: for nobody
/// ```
pub(super) struct Blame<'a> {
    groups: BTreeMap<Option<&'a str>, usize>,
    /// Of each rank when it waited, in order of time; empty where there is one group.
    waits: Vec<Vec<Wait>>,
    n_last: Vec<u64>,
    /// Of each rank what others waited for it.
    caused_ns: Vec<BTreeMap<u32, u64>>,
}

/// What a rank waited in a call of a group.
#[derive(Clone, Copy)]
struct Wait {
    start_ns: u64,
    group: usize,
    waiting_ns: u64,
}

impl<'a> Blame<'a> {
    /// Of nobody yet. Costs a pass over the calls where there are several groups.
    pub(super) fn of(n_ranks: usize, shared: &[SharedCalls<'a>]) -> Self {
        let in_work = shared.iter().filter(|one| !one.is_start_up());
        let named: BTreeSet<Option<&'a str>> = in_work.map(|one| one.group).collect();
        let groups: BTreeMap<Option<&'a str>, usize> = named.into_iter().zip(0..).collect();
        let mut waits: Vec<Vec<Wait>> = vec![Vec::new(); n_ranks];
        if groups.len() > 1 {
            matched_calls(shared, |call| {
                let of_rank = waits.get_mut(call.place as usize).filter(|_| call.waiting_ns > 0);
                if let Some((of_rank, group)) = of_rank.zip(groups.get(&call.of.group)) {
                    let (start_ns, waiting_ns) = (call.time.start_ns, call.waiting_ns);
                    of_rank.push(Wait { start_ns, group: *group, waiting_ns });
                }
            });
            for of_rank in &mut waits {
                of_rank.sort_by_key(|wait| wait.start_ns);
            }
        }
        Self { groups, waits, n_last: vec![0; n_ranks], caused_ns: vec![BTreeMap::new(); n_ranks] }
    }

    /// Adds the calls of a collective.
    pub(super) fn add(&mut self, shared: &SharedCalls<'_>, meetings: &[Meeting]) {
        let last: Vec<Option<(u32, u64)>> = (0..)
            .zip(meetings)
            .map(|(at, meeting)| {
                let place = meeting.last_to_come()?;
                let rank = shared.matched.iter().find(|rank| rank.place == place)?;
                if let Some(n_last) = self.n_last.get_mut(place as usize) {
                    *n_last += 1;
                }
                Some((place, self.handed_on_ns(shared, rank, at)))
            })
            .collect();
        for rank in &shared.matched {
            for (at, (call, meeting)) in rank.calls.iter().zip(meetings).enumerate() {
                let Some((place, mut handed_on_ns)) =
                    last[at].filter(|(place, _)| *place != rank.place)
                else {
                    continue;
                };
                if handed_on_ns > 0 {
                    handed_on_ns = handed_on_ns.saturating_sub(self.handed_on_ns(shared, rank, at));
                }
                let waiting_ns = call.length_ns().saturating_sub(meeting.shortest_ns);
                let Some(caused_ns) = self.caused_ns.get_mut(place as usize) else { continue };
                let sum = caused_ns.entry(rank.place).or_default();
                *sum = sum.saturating_add(waiting_ns.saturating_sub(handed_on_ns));
            }
        }
    }

    /// What a rank waited in other groups between a call of a collective and the one before.
    fn handed_on_ns(&self, shared: &SharedCalls<'_>, rank: &Matched<'_>, at: usize) -> u64 {
        let Some((waits, call)) = self.waits.get(rank.place as usize).zip(rank.calls.get(at))
        else {
            return 0;
        };
        let before = at.checked_sub(1).and_then(|before| rank.calls.get(before));
        let first =
            before.map_or(0, |call| waits.partition_point(|wait| wait.start_ns < call.end_ns));
        let since = waits.iter().skip(first).take_while(|wait| wait.start_ns < call.start_ns);
        let own = self.groups.get(&shared.group);
        since.filter(|wait| Some(&wait.group) != own).map(|wait| wait.waiting_ns).sum()
    }

    /// Of each rank how often it came last, and the most that one other rank waited for it.
    pub(super) fn of_ranks(self) -> impl Iterator<Item = (u64, u64)> {
        let most = |of: BTreeMap<u32, u64>| of.into_values().max().unwrap_or_default();
        self.n_last.into_iter().zip(self.caused_ns.into_iter().map(most))
    }
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
