//! How much of communication was transfer, and how much waiting for other ranks?

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::TraceContext;
use super::collective_calls::{CollectiveCall, device_calls, host_calls};
use crate::intervals::Interval;
use crate::stats::ratio;

/// The calls of collectives of one rank, without its trace: small enough to keep for many ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankCalls {
    /// Which rank; `None` when its trace does not say.
    pub rank: Option<i64>,
    /// By group and name, durations in order of time.
    calls: BTreeMap<CallKey, Vec<u64>>,
    /// Ranks in a group, where the trace says it.
    sizes: BTreeMap<CallKey, u64>,
}

/// Group and name.
type CallKey = (Option<String>, String);

/// Communication over several ranks. One call of a collective ends everywhere at about the same time, and moves data only once the
/// last rank has come: the shortest is the transfer, and what others take longer is waiting. Clocks of ranks need not agree.
///
/// ```text
/// rank 0   |------allreduce------|     waits 17
/// rank 1             |-allreduce-|     waits 7
/// rank 2                    |----|     the last to come: waits 0, and the others wait for it
///                           ╰ transfer
/// ```
///
/// Calls are matched by their place among those of a group and name. Where ranks have a different number of them, the traces do not cover the
/// same calls: none of that group and name is matched, and they are counted.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankCommunication {
    /// Each rank, in the order in which they were given.
    pub ranks: Vec<RankWaiting>,
    /// Each group and name, the one with the most waiting first.
    pub collectives: Vec<MatchedCollective>,
}

/// What a rank waited: sums over the calls that were matched.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct RankWaiting {
    /// Which; `None` when its trace does not say.
    pub rank: Option<i64>,
    /// Calls of collectives.
    pub n_calls: u64,
    /// Those that were found on other ranks, too.
    pub n_matched: u64,
    /// Their durations together; `None` when none was matched, as all below.
    pub total_ns: Option<u64>,
    /// What the fastest rank of each call took.
    pub transfer_ns: Option<u64>,
    /// The rest.
    pub waiting_ns: Option<u64>,
    /// Share of `total_ns`, 0 to 1.
    pub waiting_ratio: Option<f64>,
    /// How often it was the last to come, alone or with others: those that others wait for.
    pub n_last: Option<u64>,
}

/// One group and name over all ranks.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MatchedCollective {
    /// The group; `None` when traces do not say.
    pub group: Option<String>,
    /// The collective.
    pub name: String,
    /// Ranks that have it.
    pub n_ranks: u64,
    /// Calls on each of them; `None` when they differ, so that nothing is matched, as all below.
    pub n_calls: Option<u64>,
    /// Over all calls, what the fastest rank took.
    pub transfer_ns: Option<u64>,
    /// Over all calls and ranks, what the others took longer.
    pub waiting_ns: Option<u64>,
}

/// The calls of each rank in a trace: of each of its documents, on devices, or on the host where there are none on devices.
pub fn rank_calls(context: &TraceContext<'_>) -> Vec<RankCalls> {
    let documents = (0_u32..).zip(&context.trace.metadata);
    let of_document = |(document, metadata): (u32, &crate::import::chrome::Metadata)| {
        let mut calls = RankCalls { rank: metadata.rank, ..RankCalls::default() };
        calls.gather(context, document);
        calls
    };
    let each = documents.map(of_document);
    each.filter(|calls| !calls.calls.is_empty()).collect()
}

/// When the calls of one collective in one group were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CollectiveTimes {
    pub(crate) group: Option<String>,
    pub(crate) group_size: Option<u64>,
    pub(crate) name: String,
    /// On devices; otherwise the host did them itself.
    pub(crate) is_device: bool,
    /// In order of time.
    pub(crate) calls: Vec<Interval>,
}

/// The calls of one document, by group and name.
pub(crate) fn collective_times(context: &TraceContext<'_>, document: u32) -> Vec<CollectiveTimes> {
    let mut found: BTreeMap<CallKey, CollectiveTimes> = BTreeMap::new();
    let (calls, is_device) = calls_of(context, document);
    for call in calls {
        let key = (call.group.map(str::to_owned), call.name.to_owned());
        let times = found.entry(key).or_insert_with_key(|(group, name)| {
            let (group, name) = (group.clone(), name.clone());
            CollectiveTimes { group, name, is_device, ..CollectiveTimes::default() }
        });
        times.group_size = call.group_size.or(times.group_size);
        times.calls.push(call.time);
    }
    found.into_values().collect()
}

/// On devices, or on the host where there are none on devices; in order of time.
fn calls_of<'a>(context: &TraceContext<'a>, document: u32) -> (Vec<CollectiveCall<'a>>, bool) {
    let trace = context.trace;
    let is_here = |process: u32| {
        let process = trace.tracks.processes.get(process as usize);
        process.is_some_and(|process| process.document == document)
    };
    let here = context.timelines.iter().filter(|t| is_here(t.process));
    let mut calls: Vec<_> = here.flat_map(|t| device_calls(context, t)).collect();
    let is_device = !calls.is_empty();
    if !is_device {
        calls = host_calls(context);
        calls.retain(|call| trace.document_of(call.row) == document);
    }
    calls.sort_by_key(|call| call.time);
    (calls, is_device)
}

impl RankCalls {
    fn gather(&mut self, context: &TraceContext<'_>, document: u32) {
        for call in calls_of(context, document).0 {
            let key = (call.group.map(str::to_owned), call.name.to_owned());
            if let Some(size) = call.group_size {
                self.sizes.insert(key.clone(), size);
            }
            let durations = self.calls.entry(key).or_default();
            durations.push(Interval::length_ns(&call.time));
        }
    }

    fn n_calls(&self) -> u64 {
        self.calls.values().map(|calls| calls.len() as u64).sum()
    }
}

#[derive(Clone, Copy, Default)]
struct Sums {
    n_matched: u64,
    total_ns: u64,
    transfer_ns: u64,
    n_last: u64,
}

/// What ranks waited for each other; `None` for fewer than two, since one alone says nothing of it.
pub fn across_ranks(ranks: &[RankCalls]) -> Option<RankCommunication> {
    if ranks.len() < 2 {
        return None;
    }
    let keys: BTreeSet<&CallKey> = ranks.iter().flat_map(|rank| rank.calls.keys()).collect();
    let mut sums = vec![Sums::default(); ranks.len()];
    let mut collectives: Vec<MatchedCollective> =
        keys.into_iter().map(|key| matched(key, ranks, &mut sums)).collect();
    collectives.sort_by_key(|row| std::cmp::Reverse(row.waiting_ns));
    let waiting = ranks.iter().zip(sums).map(|(rank, sums)| {
        let is_known = sums.n_matched > 0;
        let waiting_ns = sums.total_ns.saturating_sub(sums.transfer_ns);
        RankWaiting {
            rank: rank.rank,
            n_calls: rank.n_calls(),
            n_matched: sums.n_matched,
            total_ns: is_known.then_some(sums.total_ns),
            transfer_ns: is_known.then_some(sums.transfer_ns),
            waiting_ns: is_known.then_some(waiting_ns),
            waiting_ratio: (sums.total_ns > 0)
                .then(|| ratio(u128::from(waiting_ns), u128::from(sums.total_ns))),
            n_last: is_known.then_some(sums.n_last),
        }
    });
    Some(RankCommunication { ranks: waiting.collect(), collectives })
}

/// Matches the calls of one group and name, and adds them to the sums of their ranks.
fn matched(key: &CallKey, ranks: &[RankCalls], sums: &mut [Sums]) -> MatchedCollective {
    let having = ranks.iter().enumerate();
    let having: Vec<(usize, &Vec<u64>)> =
        having.filter_map(|(at, rank)| Some((at, rank.calls.get(key)?))).collect();
    let n_calls = having.first().map_or(0, |(_, calls)| calls.len());
    let is_equal = having.iter().all(|(_, calls)| calls.len() == n_calls);
    let size = ranks.iter().find_map(|rank| rank.sizes.get(key).copied());
    // More ranks than the group has: there are several groups of this name.
    let is_one_group = size.is_none_or(|size| having.len() as u64 <= size);
    let mut found = MatchedCollective {
        group: key.0.clone(),
        name: key.1.clone(),
        n_ranks: having.len() as u64,
        n_calls: None,
        transfer_ns: None,
        waiting_ns: None,
    };
    if !is_equal || !is_one_group || having.len() < 2 {
        return found;
    }
    let (mut transfer_ns, mut waiting_ns) = (0_u64, 0_u64);
    for at_call in 0..n_calls {
        let durations = || having.iter().filter_map(|(at, c)| Some((*at, *c.get(at_call)?)));
        let shortest_ns = durations().map(|(_, ns)| ns).min().unwrap_or_default();
        transfer_ns = transfer_ns.saturating_add(shortest_ns);
        for (at, ns) in durations() {
            waiting_ns = waiting_ns.saturating_add(ns - shortest_ns);
            if let Some(sums) = sums.get_mut(at) {
                sums.n_matched += 1;
                sums.total_ns = sums.total_ns.saturating_add(ns);
                sums.transfer_ns = sums.transfer_ns.saturating_add(shortest_ns);
                sums.n_last += u64::from(ns == shortest_ns);
            }
        }
    }
    found.n_calls = Some(n_calls as u64);
    found.transfer_ns = Some(transfer_ns);
    found.waiting_ns = Some(waiting_ns);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(rank: i64, durations: &[u64]) -> RankCalls {
        let key = (None, "allreduce".to_owned());
        RankCalls {
            rank: Some(rank),
            calls: BTreeMap::from([(key, durations.to_vec())]),
            sizes: BTreeMap::new(),
        }
    }

    #[test]
    fn the_shortest_is_the_transfer_and_the_rest_is_waiting() {
        // rank 0   |--------10--------|   |--4--|
        // rank 1             |---3----|  |---5--|
        let found = across_ranks(&[calls(0, &[10, 4]), calls(1, &[3, 5])]).unwrap();
        let figures = |at: usize| {
            let rank = &found.ranks[at];
            (rank.total_ns, rank.transfer_ns, rank.waiting_ns, rank.n_last)
        };
        assert_eq!(figures(0), (Some(14), Some(7), Some(7), Some(1)));
        assert_eq!(figures(1), (Some(8), Some(7), Some(1), Some(1)));
        let all = &found.collectives[0];
        assert_eq!((all.transfer_ns, all.waiting_ns), (Some(7), Some(8)));
    }

    #[test]
    fn one_rank_alone_says_nothing_of_waiting() {
        assert_eq!(across_ranks(&[calls(0, &[10])]), None);
        assert_eq!(across_ranks(&[]), None);
    }

    #[test]
    fn traces_of_different_calls_are_not_matched() {
        let found = across_ranks(&[calls(0, &[10, 4]), calls(1, &[3])]).unwrap();
        assert_eq!(found.collectives[0].n_calls, None);
        assert_eq!(found.ranks[0].n_calls, 2);
        assert_eq!(found.ranks[0].waiting_ns, None);
    }
}
