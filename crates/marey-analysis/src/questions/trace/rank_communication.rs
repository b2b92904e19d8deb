//! How much of communication was transfer, and how much waiting for other ranks?

use std::collections::BTreeMap;

use serde::Serialize;

use super::TraceContext;
use super::collective::{CollectiveCall, device_calls, host_calls};
use crate::job::{CollectiveSums, RankProcess, RankSummary, Source, is_synchronising};
use crate::questions::ranks::{RankWaitingRow, waiting_by_durations};

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
/// Calls are matched as those of the ranks of a job are: the n-th of a group and name, where all ranks have as many.
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
    /// How often it alone was the last to come: those that others wait for.
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

/// Of each rank in a trace its calls alone: of each of its documents, on devices, or on the host where there are none on devices.
pub fn rank_calls(context: &TraceContext<'_>) -> Vec<RankSummary> {
    let documents = (0_u32..).zip(&context.trace.metadata);
    let each = documents.map(|(document, metadata)| {
        let rank = metadata.rank.and_then(|rank| u32::try_from(rank).ok());
        of_calls(rank, collective_sums(context, document))
    });
    each.filter(|calls| !calls.collectives.is_empty()).collect()
}

fn of_calls(rank: Option<u32>, collectives: Vec<CollectiveSums>) -> RankSummary {
    let process = RankProcess { rank, ..RankProcess::default() };
    RankSummary { process, source: Source::Trace, collectives, ..RankSummary::default() }
}

/// The calls of one document, by group and name.
pub(crate) fn collective_sums(context: &TraceContext<'_>, document: u32) -> Vec<CollectiveSums> {
    let mut found: BTreeMap<(Option<&str>, &str), CollectiveSums> = BTreeMap::new();
    let (calls, is_device) = calls_of(context, document);
    for call in calls {
        let sums = found.entry((call.group, call.name)).or_insert_with(|| CollectiveSums {
            group: call.group.map(str::to_owned),
            name: call.name.to_owned(),
            is_device,
            is_synchronising: is_synchronising(call.name),
            ..CollectiveSums::default()
        });
        sums.group_size = call.group_size.or(sums.group_size);
        sums.count += 1;
        sums.total_ns = sums.total_ns.saturating_add(call.time.length_ns());
        sums.calls.push(call.time);
    }
    found.into_values().collect()
}

/// On devices, or on the host where there are none on devices; in order of time.
fn calls_of<'a>(context: &TraceContext<'a>, document: u32) -> (Vec<CollectiveCall<'a>>, bool) {
    let here = context.timelines_of(document);
    let mut calls: Vec<_> = here.flat_map(|t| device_calls(context, t)).collect();
    let is_device = !calls.is_empty();
    if !is_device {
        calls = host_calls(context);
        calls.retain(|call| context.trace.document_of(call.row) == document);
    }
    calls.sort_by_key(|call| call.time);
    (calls, is_device)
}

/// What ranks waited for each other; `None` where no two of them have a collective in common, since one alone says nothing of it.
pub fn across_ranks(ranks: &[RankSummary]) -> Option<RankCommunication> {
    let waiting = waiting_by_durations(&ranks.iter().collect::<Vec<_>>())?;
    let of_rank = |row: &RankWaitingRow| {
        let is_known = row.n_matched > 0;
        RankWaiting {
            rank: ranks.get(row.place as usize).and_then(|one| one.process.rank).map(i64::from),
            n_calls: row.n_calls,
            n_matched: row.n_matched,
            total_ns: is_known.then(|| row.transfer_ns.saturating_add(row.waiting_ns)),
            transfer_ns: is_known.then_some(row.transfer_ns),
            waiting_ns: is_known.then_some(row.waiting_ns),
            waiting_ratio: row.waiting_ratio,
            n_last: is_known.then_some(row.n_last),
        }
    };
    let collectives = waiting.collectives.into_iter().map(|row| MatchedCollective {
        group: row.group,
        name: row.name,
        n_ranks: row.n_ranks,
        n_calls: row.n_calls.filter(|_| row.transfer_ns.is_some()),
        transfer_ns: row.transfer_ns,
        waiting_ns: row.waiting_ns,
    });
    let ranks = waiting.ranks.iter().map(of_rank).collect();
    Some(RankCommunication { ranks, collectives: collectives.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::Interval;

    fn calls(rank: u32, durations: &[u64]) -> RankSummary {
        let call = |ns: &u64| Interval { start_ns: 0, end_ns: *ns };
        let sums = CollectiveSums {
            name: "allreduce".to_owned(),
            count: durations.len() as u64,
            calls: durations.iter().map(call).collect(),
            ..CollectiveSums::default()
        };
        of_calls(Some(rank), vec![sums])
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
