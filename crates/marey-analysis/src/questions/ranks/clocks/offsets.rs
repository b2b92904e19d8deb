//! What has to be added to each clock to get that of the reference?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::bounds::{Bounds, columns, contradiction_ns};
use super::domains::Domains;
use super::marks::Marks;
use crate::job::RankSummary;
use crate::questions::ranks::ClockMethod;
use crate::questions::ranks::shared_calls::SharedCalls;

/// How far a clock is from that of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// Added to the clock, it gives the reference's.
    pub(super) correction_ns: i128,
    /// Right within this, either way; `None` when nothing bounds it.
    pub(super) error_ns: Option<u64>,
    pub(super) method: ClockMethod,
}

/// The clocks by number; `None` where nothing ties one to the reference.
#[derive(Debug, Default)]
pub(super) struct Offsets {
    pub(super) each: Vec<Option<Offset>>,
    /// Calls that were compared.
    pub(super) n_calls: u64,
    /// The most that calls between two clocks contradict each other by.
    pub(super) drift_ns: u64,
    /// By clock, the most that ranks which read it contradict each other by.
    pub(super) contradictions_ns: Vec<u64>,
    /// Nothing but the start of the processes aligns some clock.
    pub(super) is_by_start_up: bool,
    /// The most that marks scatter over which align a clock.
    pub(super) scatter_ns: u64,
}

/// Clocks in order of their error, as roads are found: from the one that is known best, over the calls that it shares, to others. Calls
/// of one collective and group are looked at from the first clock of it that is reached, so that all of them cost one pass.
///
/// ```text
/// reference ── barrier, group 0 ──► clock 1 ── all_reduce, group 1 ──► clock 2
///     error 0            2                            + 3                  5
/// ```
///
/// Clocks that no collective reaches are reached by the start of the processes, and the rest by marks. Neither says anything of clocks that
/// others have placed, nor of ranks that share one.
pub(super) fn offsets(
    places: &[&RankSummary],
    domains: &Domains,
    shared: &[SharedCalls<'_>],
) -> Offsets {
    let mut ways = Ways {
        places,
        domains,
        found: Offsets {
            each: vec![None; domains.len()],
            contradictions_ns: vec![0; domains.len()],
            ..Offsets::default()
        },
    };
    let reference = domains.reference(places);
    if let Some(offset) = ways.found.each.get_mut(reference) {
        *offset =
            Some(Offset { correction_ns: 0, error_ns: Some(0), method: ClockMethod::SameClock });
    }
    ways.reach(shared.iter().filter(|one| one.is_meeting()));
    let n_reached = ways.n_reached();
    let is_start = |one: &&SharedCalls<'_>| one.is_matched() && one.is_start_up();
    ways.reach(shared.iter().filter(is_start));
    ways.found.is_by_start_up = ways.n_reached() > n_reached;
    ways.place_by_marks();
    let mut found = ways.found;
    let errors = found.each.iter_mut().zip(&found.contradictions_ns);
    for (offset, contradiction_ns) in errors {
        if let Some(offset) = offset {
            let error_ns = offset.error_ns;
            offset.error_ns = error_ns.map(|ns| ns.saturating_add(*contradiction_ns));
        }
    }
    found
}

/// What has been found, on the way to more.
struct Ways<'a> {
    places: &'a [&'a RankSummary],
    domains: &'a Domains,
    found: Offsets,
}

/// Calls that lead from any of these clocks to any other.
struct Road<'a> {
    shared: &'a SharedCalls<'a>,
    clocks: BTreeSet<usize>,
}

impl<'a> Ways<'a> {
    /// Clocks whose way is known.
    fn n_reached(&self) -> usize {
        self.found.each.iter().flatten().count()
    }

    /// Finds clocks that are not known yet, over the calls that are given.
    fn reach(&mut self, calls: impl Iterator<Item = &'a SharedCalls<'a>>) {
        let road = |shared: &'a SharedCalls<'a>| {
            let places = shared.matched.iter().map(|one| one.place as usize);
            Road { shared, clocks: places.map(|place| self.domains.of_place(place)).collect() }
        };
        let mut roads: Vec<Road<'_>> = calls.map(road).collect();
        let known = self.found.each.iter().enumerate();
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = known
            .filter_map(|(at, offset)| Some(Reverse((offset.as_ref()?.error_ns?, at))))
            .collect();
        let mut is_fixed: Vec<bool> = self.found.each.iter().map(Option::is_some).collect();
        let mut is_left = vec![false; is_fixed.len()];
        while let Some(Reverse((_, hub))) = next.pop() {
            let Some(from) = self.found.each.get(hub).copied().flatten() else {
                continue;
            };
            if std::mem::replace(&mut is_left[hub], true) {
                continue;
            }
            is_fixed[hub] = true;
            let (here, elsewhere) = roads.into_iter().partition(|r| r.clocks.contains(&hub));
            roads = elsewhere;
            for (other, bounds) in self.bounds_against(hub, here) {
                if !is_fixed[other]
                    && let Some(error_ns) = self.improve(from, other, bounds)
                {
                    next.push(Reverse((error_ns, other)));
                }
            }
        }
    }

    /// Takes the way over the hub, if that is better than what is known. Returns its error.
    fn improve(&mut self, from: Offset, other: usize, bounds: Bounds) -> Option<u64> {
        let estimate = bounds.estimate();
        let found = &mut self.found;
        found.n_calls = found.n_calls.saturating_add(bounds.n_calls);
        found.drift_ns = found.drift_ns.max(estimate.drift_ns);
        let error_ns = from.error_ns?.saturating_add(estimate.error_ns);
        let known = found.each.get_mut(other)?;
        let known_ns = known.and_then(|before| before.error_ns);
        known_ns.is_none_or(|before_ns| error_ns < before_ns).then(|| {
            *known = Some(Offset {
                correction_ns: from.correction_ns + estimate.offset_ns,
                error_ns: Some(error_ns),
                method: ClockMethod::Collectives,
            });
            error_ns
        })
    }

    /// Places clocks that are not known yet by the marks that they have in common with the one that is known best.
    fn place_by_marks(&mut self) {
        if self.n_reached() == self.found.each.len() {
            return;
        }
        let marks = Marks::of(self.places, self.domains);
        let known = |clock: usize| self.found.each.get(clock).copied().flatten();
        let hubs = marks.clocks().filter_map(|clock| {
            let offset = known(clock)?;
            Some((offset.error_ns?, clock, offset.correction_ns))
        });
        let Some((_, hub, of_hub_ns)) = hubs.min() else {
            return;
        };
        for clock in marks.clocks() {
            let found = &mut self.found;
            if let Some(unknown @ None) = found.each.get_mut(clock)
                && let Some(estimate) = marks.between(hub, clock)
            {
                found.scatter_ns = found.scatter_ns.max(estimate.scatter_ns);
                *unknown = Some(Offset {
                    correction_ns: of_hub_ns + estimate.offset_ns,
                    error_ns: None,
                    method: ClockMethod::StartMarks,
                });
            }
        }
    }

    /// Bounds of all other clocks against that of the hub.
    fn bounds_against(&mut self, hub: usize, roads: Vec<Road<'_>>) -> BTreeMap<usize, Bounds> {
        let mut all: BTreeMap<usize, Bounds> = BTreeMap::new();
        for road in roads {
            let calls =
                road.shared.matched.iter().map(|one| (one.place, one.calls.iter().copied()));
            let columns = columns(calls, self.places, self.domains);
            if road.shared.is_meeting() {
                for (clock, column) in &columns {
                    let within_ns = &mut self.found.contradictions_ns[*clock];
                    *within_ns = contradiction_ns(column).max(*within_ns);
                }
            } else if columns.values().any(|one| contradiction_ns(one) > 0) {
                // Not all had come when some left: torch lets some backends do so.
                continue;
            }
            let Some(of_hub) = columns.get(&hub) else {
                continue;
            };
            for (other, column) in columns.iter().filter(|(other, _)| **other != hub) {
                if let Some(bounds) = Bounds::between(of_hub, column) {
                    let both = all.get(other).map_or(bounds, |before| before.and(bounds));
                    all.insert(*other, both);
                }
            }
        }
        all
    }
}
