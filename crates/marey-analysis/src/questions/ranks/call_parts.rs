//! When did each rank wait for others within its calls of collectives, and when was data moved?

use std::collections::BTreeMap;

use super::shared_calls::{in_work, shared_calls};
use super::{jobs, placed};
use crate::job::Ranks;

/// A matched call of one rank, on the clock of its capture. A call moves data only once the last rank has come, so the waiting comes first.
///
/// ```text
/// rank 0   |~~~~~~~~~~~~~---------|     ~ waits for others
/// rank 1              |~~---------|     - transfer: as long as the shortest call
/// rank 2                |---------|
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallParts {
    /// The collective.
    pub name: String,
    /// When it began, nanoseconds since the start of the run.
    pub start_ns: u64,
    /// When the transfer began.
    pub transfer_start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
}

/// The matched calls of each rank that stands for one, by the file that it was read from, in order of time, without those of the start.
/// Costs what the question of waiting does.
pub fn call_parts(ranks: &Ranks) -> BTreeMap<String, Vec<CallParts>> {
    let mut by_file: BTreeMap<String, Vec<CallParts>> = BTreeMap::new();
    for team in jobs::jobs(ranks.summaries()) {
        let shared = shared_calls(&team.places);
        for (place, rank) in placed(&team.places) {
            let named = in_work(&shared).flat_map(|one| one.calls_of(place).map(|c| (one.name, c)));
            let mut parts: Vec<CallParts> = named
                .map(|(name, call)| CallParts {
                    name: name.to_owned(),
                    start_ns: call.time.start_ns,
                    transfer_start_ns: call.time.start_ns.saturating_add(call.waiting_ns),
                    end_ns: call.time.end_ns,
                })
                .collect();
            if !parts.is_empty() {
                parts.sort_by_key(|call| (call.start_ns, call.end_ns));
                by_file.insert(rank.file.clone(), parts);
            }
        }
    }
    by_file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::Interval;
    use crate::job::{CollectiveSums, RankProcess, RankSummary};

    fn rank(rank: u32, calls: &[(u64, u64)]) -> RankSummary {
        let interval =
            |(start_ns, end_ns): &(u64, u64)| Interval { start_ns: *start_ns, end_ns: *end_ns };
        RankSummary {
            process: RankProcess {
                job_id: "job".into(),
                rank: Some(rank),
                pid: 100 + rank,
                world_size: Some(2),
                start_unix_ns: 1,
                ..RankProcess::default()
            },
            file: format!("rank{rank}"),
            collectives: vec![CollectiveSums {
                name: "all_reduce".into(),
                count: calls.len() as u64,
                is_synchronising: true,
                calls: calls.iter().map(interval).collect(),
                ..CollectiveSums::default()
            }],
            ..RankSummary::default()
        }
    }

    #[test]
    fn what_a_call_takes_longer_than_the_shortest_is_waiting_at_its_beginning() {
        // rank 0   10 |~~~~~~~----| 40     waits 20
        // rank 1         30 |----| 40     then 50 to 57, waits 2; rank 0 takes 5
        let ranks =
            Ranks::from_iter([rank(0, &[(10, 40), (52, 57)]), rank(1, &[(30, 40), (50, 57)])]);
        let found = call_parts(&ranks);
        let times = |file: &str| -> Vec<(u64, u64, u64)> {
            let calls = found[file].iter();
            calls.map(|call| (call.start_ns, call.transfer_start_ns, call.end_ns)).collect()
        };
        assert_eq!(times("rank0"), [(10, 30, 40), (52, 52, 57)]);
        assert_eq!(times("rank1"), [(30, 30, 40), (50, 52, 57)]);
        assert_eq!(found["rank0"][0].name, "all_reduce");
    }
}
