//! Collectives: what a name says of the calls, whichever recorder wrote it; the calls that a summary keeps, and how its document has them: for
//! each call the time since the start of the one before it, and its length, nanoseconds in one list.

use std::cmp::Reverse;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CollectiveSums, RankSummary};
use crate::intervals::Interval;
use crate::questions::trace::CollectiveKind;

/// Processes come together in it at first: who waits there waits for an earlier or later start, not for work.
pub(crate) const START_UP: &str = "init_process_group";

/// An asynchronous call is recorded as two: what hands it over, and the wait for it.
pub(crate) const BEGIN: &str = " begin";
/// See [`BEGIN`].
pub(crate) const WAIT: &str = " wait";

/// Nobody leaves it before everybody has come.
pub(crate) fn is_synchronising(name: &str) -> bool {
    let kind = CollectiveKind::of(name);
    let needs_all = matches!(
        kind,
        CollectiveKind::AllReduce
            | CollectiveKind::AllGather
            | CollectiveKind::ReduceScatter
            | CollectiveKind::AllToAll
    );
    needs_all || ["barrier", "monitored_barrier"].contains(&name)
}

/// Two ranks talk in it, each by a name of its own: the n-th of one is not the n-th of another.
pub(crate) fn is_between_two(name: &str) -> bool {
    CollectiveKind::of(name) == CollectiveKind::SendReceive
}

/// Keeps those with the most time, first the start of the processes, which aligns clocks however short it is, and of their calls as many as
/// there is room for: all that began before one moment, so that up to it everything is known. Returns how many collectives are left out.
pub(super) fn keep_bounded(collectives: &mut Vec<CollectiveSums>) -> u64 {
    let n_all = collectives.len();
    if n_all > RankSummary::MAX_COLLECTIVES {
        collectives.sort_by_key(|of| (of.name != START_UP, Reverse(of.total_ns)));
        collectives.truncate(RankSummary::MAX_COLLECTIVES);
        collectives.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
    }
    let calls = collectives.iter().flat_map(|of| &of.calls);
    let mut starts: Vec<u64> = calls.map(|call| call.start_ns).collect();
    if starts.len() > RankSummary::MAX_CALLS {
        let (_, until_ns, _) = starts.select_nth_unstable(RankSummary::MAX_CALLS);
        for of in collectives.iter_mut() {
            of.calls.retain(|call| call.start_ns < *until_ns);
        }
    }
    (n_all - collectives.len()) as u64
}

pub(super) fn serialize<S: Serializer>(
    calls: &[Interval],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut before_ns = 0_u64;
    let mut list: Vec<u64> = Vec::with_capacity(2 * calls.len());
    for call in calls {
        list.push(call.start_ns.wrapping_sub(before_ns));
        list.push(call.end_ns.wrapping_sub(call.start_ns));
        before_ns = call.start_ns;
    }
    list.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Interval>, D::Error> {
    let list = Vec::<u64>::deserialize(deserializer)?;
    let (pairs, rest) = list.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(serde::de::Error::invalid_length(list.len(), &"pairs of numbers"));
    }
    let mut before_ns = 0_u64;
    let call = |[since_ns, length_ns]: &[u64; 2]| {
        before_ns = before_ns.wrapping_add(*since_ns);
        Interval { start_ns: before_ns, end_ns: before_ns.wrapping_add(*length_ns) }
    };
    Ok(pairs.iter().map(call).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of 1 ns, one every 10 ns from `first_ns` on.
    fn collective(name: &str, first_ns: u64, n_calls: u64, total_ns: u64) -> CollectiveSums {
        let call = |number| Interval {
            start_ns: first_ns + 10 * number,
            end_ns: first_ns + 10 * number + 1,
        };
        CollectiveSums {
            name: name.into(),
            count: n_calls,
            total_ns,
            calls: (0..n_calls).map(call).collect(),
            ..CollectiveSums::default()
        }
    }

    #[test]
    fn of_too_many_calls_those_that_began_first_stay_of_each_collective() {
        // a at 0, 10, 20 …, b at 5, 15, 25 …, c at 3 alone: one too many of each of the first two.
        let half = RankSummary::MAX_CALLS as u64 / 2;
        let mut all = vec![
            collective("a", 0, half, 9),
            collective("b", 5, half, 9),
            collective("c", 3, 1, 9),
        ];
        assert_eq!(keep_bounded(&mut all), 0);
        let n_kept: Vec<u64> = all.iter().map(|of| of.calls.len() as u64).collect();
        assert_eq!(n_kept, [half, half - 1, 1]);
        assert_eq!((all[1].count, all[1].total_ns), (half, 9));
    }

    #[test]
    fn of_too_many_groups_those_with_the_most_time_and_the_start_stay() {
        let mut all: Vec<_> =
            (0..100).map(|n| collective(&format!("group{n:03}"), 0, 2, n)).collect();
        all.push(collective(START_UP, 0, 1, 0));
        assert_eq!(keep_bounded(&mut all), 37);
        assert_eq!(all.len(), 64);
        assert_eq!(all[0].name, "group037");
        assert_eq!(all[63].name, START_UP);
    }

    #[test]
    fn a_document_has_distances_and_lengths() {
        let of = collective("a", 100, 3, 3);
        let text = serde_json::to_value(&of).unwrap();
        assert_eq!(text["calls"], serde_json::json!([100, 1, 10, 1, 10, 1]));
        assert_eq!(serde_json::from_value::<CollectiveSums>(text).unwrap(), of);
        let mut odd = serde_json::to_value(collective("a", 0, 1, 1)).unwrap();
        odd["calls"] = serde_json::json!([1, 2, 3]);
        assert!(serde_json::from_value::<CollectiveSums>(odd).is_err());
    }

    /// Of torch.distributed and of kernels.
    #[test]
    fn ranks_meet_in_what_needs_all_of_them() {
        for (name, meets, is_of_two) in [
            ("all_reduce", true, false),
            ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", true, false),
            ("_allgather_base", true, false),
            ("all_gather_object", true, false),
            ("reduce_scatter_tensor", true, false),
            ("all_to_all_single", true, false),
            ("barrier", true, false),
            ("monitored_barrier", true, false),
            ("broadcast_object_list", false, false),
            ("reduce", false, false),
            ("gather", false, false),
            ("scatter", false, false),
            (START_UP, false, false),
            ("send", false, true),
            ("irecv", false, true),
            ("batch_isend_irecv", false, true),
            ("batch_isend_irecv wait", false, true),
            ("send_recv", false, true),
        ] {
            let found = (is_synchronising(name), is_between_two(name));
            assert_eq!(found, (meets, is_of_two), "{name}");
        }
    }
}
