//! Which processes read the same clock?

use std::collections::BTreeMap;

use crate::job::RankSummary;

/// Clocks by number, in order of the first place that reads them.
pub(super) struct Domains {
    of_place: Vec<usize>,
    n_clocks: usize,
}

impl Domains {
    /// Processes of one start of a machine share a clock. One that does not say which start, or when it began, has its own.
    pub(super) fn of(places: &[&RankSummary]) -> Self {
        let mut by_boot: BTreeMap<&str, usize> = BTreeMap::new();
        let mut of_place = Vec::with_capacity(places.len());
        let mut n_clocks = 0;
        for rank in places {
            let process = &rank.process;
            let is_shared = !process.boot_id.is_empty() && process.start_ns().is_some();
            let at = if is_shared {
                *by_boot.entry(&process.boot_id).or_insert(n_clocks)
            } else {
                n_clocks
            };
            n_clocks = n_clocks.max(at + 1);
            of_place.push(at);
        }
        Self { of_place, n_clocks }
    }

    pub(super) fn len(&self) -> usize {
        self.n_clocks
    }

    /// The clock of a place.
    pub(super) fn of_place(&self, place: usize) -> usize {
        self.of_place.get(place).copied().unwrap_or_default()
    }

    /// The clock of the lowest rank that says when it began; of the lowest of all, when none does.
    pub(super) fn reference(&self, places: &[&RankSummary]) -> usize {
        let dated = places.iter().position(|one| one.process.start_ns().is_some());
        self.of_place(dated.unwrap_or_default())
    }
}
