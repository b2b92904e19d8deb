//! Which positions of a lane a reader has seen. A capture may have a record twice (its writer died before it noted that it had
//! written), out of order (what is written over and over begins anywhere), or not at all.

use std::collections::BTreeMap;

/// Consecutive positions that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The first.
    pub(super) first: u64,
    /// The one behind the last.
    pub(super) next: u64,
    /// When the first one was over, in ticks.
    pub(super) first_ticks: u64,
    /// When the last one was over, in ticks.
    pub(super) last_ticks: u64,
}

/// The positions that were seen.
#[derive(Debug, Default)]
pub(super) struct Positions {
    /// Stretches that do not touch, by their first position, without `current`.
    others: BTreeMap<u64, Stretch>,
    /// The stretch that grew last; most positions follow the one before.
    current: Option<Stretch>,
    /// Where the stretch behind `current` begins.
    limit: u64,
}

impl Positions {
    /// Takes positions in whose first one is `first`, and which were over at `ticks`. False when that one was seen before.
    #[inline]
    pub(super) fn insert(&mut self, first: u64, next: u64, ticks: u64) -> bool {
        if let Some(current) = &mut self.current
            && current.next == first
            && next < self.limit
        {
            (current.next, current.last_ticks) = (next, ticks);
            return true;
        }
        self.insert_elsewhere(first, next, ticks)
    }

    #[cold]
    fn insert_elsewhere(&mut self, first: u64, next: u64, ticks: u64) -> bool {
        if let Some(current) = self.current.take() {
            self.others.insert(current.first, current);
        }
        let before = self.others.range(..=first).next_back();
        let before = before.map(|(_, stretch)| *stretch);
        if before.is_some_and(|before| before.next > first) {
            self.current = before.and_then(|before| self.others.remove(&before.first));
            self.set_limit();
            return false;
        }
        let mut grown = Stretch { first, next, first_ticks: ticks, last_ticks: ticks };
        if let Some(before) = before.filter(|before| before.next == first) {
            self.others.remove(&before.first);
            (grown.first, grown.first_ticks) = (before.first, before.first_ticks);
        }
        while let Some((&at, &behind)) = self.others.range(first..=next).next() {
            self.others.remove(&at);
            if behind.next >= grown.next {
                (grown.next, grown.last_ticks) = (behind.next, behind.last_ticks);
            }
        }
        self.current = Some(grown);
        self.set_limit();
        true
    }

    fn set_limit(&mut self) {
        let from = self.current.map_or(0, |current| current.next);
        let behind = self.others.range(from..).next();
        self.limit = behind.map_or(u64::MAX, |(first, _)| *first);
    }

    /// The stretches, in order.
    pub(super) fn stretches(&self) -> Vec<Stretch> {
        let mut all: Vec<Stretch> = self.others.values().copied().chain(self.current).collect();
        all.sort_by_key(|stretch| stretch.first);
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stretches(seen: &Positions) -> Vec<(u64, u64)> {
        seen.stretches().iter().map(|s| (s.first, s.next)).collect()
    }

    #[test]
    fn what_comes_out_of_order_grows_together() {
        let mut seen = Positions::default();
        let mut insert = |at: u64| seen.insert(at, at + 1, at * 10);
        assert!([1, 2, 7, 8, 4].into_iter().all(&mut insert));
        assert!(![1, 8, 4].into_iter().any(&mut insert));
        assert_eq!(stretches(&seen), [(1, 3), (4, 5), (7, 9)]);
        assert!([3, 6, 5].map(|at| seen.insert(at, at + 1, at * 10)).iter().all(|is_new| *is_new));
        let whole = Stretch { first: 1, next: 9, first_ticks: 10, last_ticks: 80 };
        assert_eq!(seen.stretches(), [whole]);
    }

    proptest! {
        #[test]
        fn each_position_is_new_once_and_stretches_never_touch(
            positions in prop::collection::vec(0_u64..60, 0..120),
        ) {
            let mut seen = Positions::default();
            let mut known = std::collections::BTreeSet::new();
            for at in positions {
                prop_assert_eq!(seen.insert(at, at + 1, at), known.insert(at));
            }
            let stretches = seen.stretches();
            let all: Vec<u64> = stretches.iter().flat_map(|s| s.first..s.next).collect();
            prop_assert_eq!(all, known.into_iter().collect::<Vec<_>>());
            prop_assert!(stretches.windows(2).all(|two| two[0].next < two[1].first));
            prop_assert!(stretches.iter().all(|s| (s.first_ticks, s.last_ticks) == (s.first, s.next - 1)));
        }
    }
}
