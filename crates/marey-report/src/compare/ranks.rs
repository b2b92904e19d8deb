//! The ranks of two jobs side by side: who takes longer now, and in what.
//!
//! ```text
//! before   rank 0  |-step-|           after   rank 0  |-step-|~all_reduce~|     waits for rank 1: not its own doing
//!          rank 1  |-step-|                   rank 1  |-------step--------|     changed most
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey_analysis::{PathTimes, SharedAccount};

use crate::first_screen::{is_waiting, shared_parts};

/// What held each rank of a job up, by its number.
pub type RankTimes = BTreeMap<u32, PathTimes>;

/// A rank that both jobs have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComparedRank {
    pub(crate) rank: u32,
    /// Its wall times.
    pub(crate) wall_ns: [u64; 2],
    /// The part of them that changed most, waiting left out: a section as the user named it, or `other`.
    pub(crate) part: String,
    /// What that took.
    pub(crate) held_ns: [u64; 2],
}

impl ComparedRank {
    /// Ranks of the same number, the one of which a part changed most first.
    pub(crate) fn all([baseline, candidate]: [&RankTimes; 2]) -> Vec<Self> {
        let both = baseline.iter().filter_map(|(rank, before)| {
            let account = SharedAccount::new(vec![before.clone(), candidate.get(rank)?.clone()]);
            Self::new(*rank, &account)
        });
        let mut ranks: Vec<Self> = both.collect();
        ranks.sort_by_key(|one| (Reverse(one.moved_ns()), one.rank));
        ranks
    }

    fn new(rank: u32, account: &SharedAccount) -> Option<Self> {
        let (parts, left) = shared_parts(account);
        let parts = parts.into_iter().map(|part| (part.name, part.of_runs));
        let parts = parts.chain([("other".to_owned(), left)]);
        let parts = parts.filter(|(name, _)| !is_waiting(name));
        let parts = parts.filter_map(|(name, times)| Some((name, pair(&times)?)));
        let (part, held_ns) = parts.max_by_key(|(_, [before, after])| before.abs_diff(*after))?;
        Some(Self { rank, wall_ns: pair(&account.wall_ns)?, part, held_ns })
    }

    /// By how much its part changed.
    pub(crate) fn moved_ns(&self) -> u64 {
        self.held_ns[0].abs_diff(self.held_ns[1])
    }

    /// The first of these, if a part of it takes longer now by more than twice what changed in a usual one of the others.
    pub(crate) fn apart(ranks: &[Self]) -> Option<&Self> {
        let (first, others) = ranks.split_first()?;
        let usual_ns = others.get(others.len() / 2)?.moved_ns();
        let is_apart = first.moved_ns() / 2 > usual_ns;
        Some(first).filter(|first| is_apart && first.held_ns[1] > first.held_ns[0])
    }
}

fn pair(values: &[u64]) -> Option<[u64; 2]> {
    values.try_into().ok()
}

#[cfg(test)]
mod tests {
    use marey_analysis::PathTime;

    use super::*;

    /// A rank of a job whose ranks load, step and wait for each other for so long.
    fn rank(load: u64, step: u64, all_reduce: u64) -> PathTimes {
        let parts = [("load", load), ("step", step), ("all_reduce", all_reduce)];
        let time = |(name, self_ns): (&str, u64)| PathTime {
            path: vec![name.to_owned()],
            is_iteration: false,
            self_ns,
        };
        (load + step + all_reduce + 5, parts.map(time).into())
    }

    fn job(ranks: &[PathTimes]) -> RankTimes {
        (0..).zip(ranks.iter().cloned()).collect()
    }

    #[test]
    fn the_rank_that_works_longer_is_named_and_not_those_that_wait_for_it() {
        let before = job(&[rank(50, 100, 10), rank(50, 100, 10), rank(50, 101, 9)]);
        let after = job(&[rank(50, 102, 308), rank(50, 400, 10), rank(51, 101, 308)]);
        let ranks = ComparedRank::all([&before, &after]);
        let slow =
            ComparedRank { rank: 1, wall_ns: [165, 465], part: "step".into(), held_ns: [100, 400] };
        assert_eq!(ComparedRank::apart(&ranks), Some(&slow));
        let moved: Vec<(u32, u64)> = ranks.iter().map(|r| (r.rank, r.moved_ns())).collect();
        assert_eq!(moved, [(1, 300), (0, 2), (2, 1)]);
        let back = ComparedRank::all([&job(&[rank(50, 400, 10), rank(50, 100, 310)]), &before]);
        assert_eq!((back.len(), back[0].rank), (2, 0));
        assert_eq!(ComparedRank::apart(&back), None, "it got faster");
    }

    #[test]
    fn ranks_that_change_alike_are_not_told_apart() {
        let before = job(&[rank(50, 100, 10), rank(50, 100, 10)]);
        let after = job(&[rank(50, 200, 10), rank(50, 230, 10)]);
        let ranks = ComparedRank::all([&before, &after]);
        assert_eq!((ranks[0].rank, ranks[1].rank), (1, 0));
        assert_eq!(ComparedRank::apart(&ranks), None);
        assert!(ComparedRank::all([&RankTimes::new(), &before]).is_empty());
    }
}
