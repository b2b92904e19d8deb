//! What do all calls of a collective come to on each rank, those that were not looked at among them?

use std::collections::BTreeMap;

use super::shared_calls::{Matched, Weight};
use super::unseen::{Estimate, error_of_sum};

/// The matched calls of a collective on one rank.
pub(super) struct CommunicationSums {
    pub(super) place: u32,
    pub(super) n_calls: u64,
    pub(super) n_looked_at: u64,
    pub(super) transfer_ns: u64,
    pub(super) waiting_ns: u64,
    /// Standard error of both; `None` when all were looked at.
    pub(super) error_ns: Option<u64>,
    /// What numbers of calls, their transfer and their waiting stand for.
    pub(super) of_count: Weight,
    pub(super) of_transfer: Weight,
    pub(super) of_waiting: Weight,
}

/// Of each matched rank; nothing of one alone. `shortest_ns` has of each call that is looked at what the fastest rank took, `None` where only
/// one rank has it.
///
/// Ranks with as many calls have one transfer, and what each waits is the rest of its time, which is known. The transfer is estimated by the
/// rank of them whose lengths tell most of the shortest ones, which is often the slow one.
///
/// ```text
/// rank 0   1 2 3 4 5 6 7 8       transfer of 1 to 6, of 1 to 8 its own time in these is estimated
/// rank 1   1 2 3 4 5 6           killed: transfer of 1 to 6, by its own lengths
/// rank 2   1 2 3 4               killed: transfer of 1 to 4, by its own lengths
/// ```
pub(super) fn communication_sums(
    ranks: &[Matched<'_>],
    shortest_ns: &[Option<u64>],
) -> Vec<CommunicationSums> {
    let mut counts: Vec<u64> = ranks.iter().map(|rank| rank.n_calls).collect();
    counts.sort_unstable();
    // The last calls of a rank that has more than all others are no other's.
    let Some(most) = counts.len().checked_sub(2).map(|at| counts[at]) else {
        return Vec::new();
    };
    let seen: Vec<Seen> = ranks
        .iter()
        .map(|rank| Seen::of(rank, shortest_ns))
        .collect();
    let mut transfers: BTreeMap<u64, Transfer> = BTreeMap::new();
    for rank in ranks.iter().filter(|rank| rank.n_calls <= most) {
        let of_rank = Transfer::by(rank, shortest_ns);
        let of_all = transfers.entry(rank.n_calls).or_insert(of_rank);
        *of_all = of_all.and(of_rank);
    }
    let each = ranks.iter().zip(&seen);
    each.map(|(rank, seen)| {
        let n_calls = rank.n_calls.min(most);
        let transfer = transfers.get(&n_calls).map(Transfer::unseen);
        let time = if rank.n_calls > most {
            shared_time(rank, shortest_ns)
        } else {
            Estimate::known(rank.unseen.total_ns)
        };
        seen.with(n_calls, transfer.unwrap_or_default(), time)
    })
    .collect()
}

/// Transfer of the calls that were not looked at, of ranks with as many calls.
#[derive(Clone, Copy)]
struct Transfer {
    estimate: Estimate,
    /// Calls are no shorter than their transfer.
    at_most_ns: u64,
}

impl Transfer {
    fn by(rank: &Matched<'_>, shortest_ns: &[Option<u64>]) -> Self {
        let parts = rank.calls().zip(shortest_ns);
        let parts = parts.map(|(call, shortest)| (shortest.unwrap_or_default(), call.length_ns()));
        Self {
            estimate: rank.unseen.estimate(&parts.collect::<Vec<_>>()),
            at_most_ns: rank.unseen.total_ns,
        }
    }

    /// The more exact one.
    fn and(self, other: Self) -> Self {
        let is_better = other.estimate.error_ns < self.estimate.error_ns;
        Self {
            estimate: if is_better { other } else { self }.estimate,
            at_most_ns: self.at_most_ns.min(other.at_most_ns),
        }
    }

    fn unseen(&self) -> Estimate {
        Estimate {
            sum_ns: self.estimate.sum_ns.min(self.at_most_ns),
            ..self.estimate
        }
    }
}

/// How long those calls were that were not looked at and that another rank has, too.
fn shared_time(rank: &Matched<'_>, shortest_ns: &[Option<u64>]) -> Estimate {
    let parts = rank.calls().zip(shortest_ns);
    let parts = parts.map(|(call, shortest)| {
        let length_ns = call.length_ns();
        (shortest.map_or(0, |_| length_ns), length_ns)
    });
    rank.unseen.estimate(&parts.collect::<Vec<_>>())
}

/// Matched calls of a rank that are looked at.
#[derive(Clone, Copy, Default)]
struct Seen {
    place: u32,
    n_calls: u64,
    transfer_ns: u64,
    waiting_ns: u64,
    first_transfer_ns: u64,
    first_waiting_ns: u64,
}

impl Seen {
    fn of(rank: &Matched<'_>, shortest_ns: &[Option<u64>]) -> Self {
        let mut seen = Self {
            place: rank.place,
            ..Self::default()
        };
        for (call, shortest_ns) in rank.calls().zip(shortest_ns) {
            let Some(shortest_ns) = *shortest_ns else {
                continue;
            };
            let waiting_ns = call.length_ns().saturating_sub(shortest_ns);
            if seen.n_calls == 0 {
                (seen.first_transfer_ns, seen.first_waiting_ns) = (shortest_ns, waiting_ns);
            }
            seen.n_calls += 1;
            seen.transfer_ns = seen.transfer_ns.saturating_add(shortest_ns);
            seen.waiting_ns = seen.waiting_ns.saturating_add(waiting_ns);
        }
        seen
    }

    /// With the calls that were not looked at.
    fn with(&self, n_calls: u64, transfer: Estimate, time: Estimate) -> CommunicationSums {
        let unseen_waiting_ns = time.sum_ns.saturating_sub(transfer.sum_ns);
        let transfer_ns = self.transfer_ns.saturating_add(transfer.sum_ns);
        let waiting_ns = self.waiting_ns.saturating_add(unseen_waiting_ns);
        let weight = |all: u64, seen: u64, first: u64| {
            Weight::of_sums(all.saturating_sub(first), seen.saturating_sub(first))
        };
        CommunicationSums {
            place: self.place,
            n_calls,
            n_looked_at: self.n_calls,
            transfer_ns,
            waiting_ns,
            error_ns: (n_calls > self.n_calls)
                .then(|| error_of_sum(transfer.error_ns, time.error_ns)),
            of_count: weight(n_calls, self.n_calls, 1),
            of_transfer: weight(transfer_ns, self.transfer_ns, self.first_transfer_ns),
            of_waiting: weight(waiting_ns, self.waiting_ns, self.first_waiting_ns),
        }
    }
}
