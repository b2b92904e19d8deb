//! What has to be added to each clock to get that of the reference?

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::bounds::{Bounds, columns, contradiction_ns};
use super::domains::Domains;
use crate::job::RankSummary;
use crate::questions::ranks::ClockMethod;
use crate::questions::ranks::shared_calls::SharedCalls;

/// Names of what all ranks do together when they begin.
const START_MARKS: [&str; 2] = ["start_mark", "init_process_group"];

/// How far a clock is from that of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// Added to the clock, it gives the reference's.
    pub(super) correction_ns: i128,
    /// Right within this, either way.
    pub(super) error_ns: u64,
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
}

/// Clocks in order of their error, as roads are found: from the one that is known best, over the calls that it shares, to others. Calls
/// of one collective and group are looked at from the first clock of it that is reached, so that all of them cost one pass.
///
/// ```text
/// reference ── barrier, group 0 ──► clock 1 ── all_reduce, group 1 ──► clock 2
///     error 0            2                            + 3                  5
/// ```
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
        *offset = Some(Offset {
            correction_ns: 0,
            error_ns: 0,
            method: ClockMethod::SameClock,
        });
    }
    let is_mark = |one: &SharedCalls<'_>| START_MARKS.contains(&one.name);
    let meetings = shared.iter().filter(|one| one.is_meeting());
    let marks = shared.iter().filter(|one| one.is_matched() && is_mark(one));
    ways.reach(meetings, ClockMethod::Collectives);
    ways.reach(marks, ClockMethod::StartMarks);
    let mut found = ways.found;
    let errors = found.each.iter_mut().zip(&found.contradictions_ns);
    for (offset, contradiction_ns) in errors {
        if let Some(offset) = offset {
            offset.error_ns = offset.error_ns.saturating_add(*contradiction_ns);
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
    /// Finds clocks that are not known yet, over the calls that are given.
    fn reach(&mut self, calls: impl Iterator<Item = &'a SharedCalls<'a>>, method: ClockMethod) {
        let road = |shared: &'a SharedCalls<'a>| {
            let places = shared.matched.iter().map(|one| one.place as usize);
            Road {
                shared,
                clocks: places.map(|place| self.domains.of_place(place)).collect(),
            }
        };
        let mut roads: Vec<Road<'_>> = calls.map(road).collect();
        let known = self.found.each.iter().enumerate();
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = known
            .filter_map(|(at, offset)| Some(Reverse((offset.as_ref()?.error_ns, at))))
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
                    && let Some(error_ns) = self.improve(from, other, bounds, method)
                {
                    next.push(Reverse((error_ns, other)));
                }
            }
        }
    }

    /// Takes the way over the hub, if that is better than what is known. Returns its error.
    fn improve(
        &mut self,
        from: Offset,
        other: usize,
        bounds: Bounds,
        method: ClockMethod,
    ) -> Option<u64> {
        let estimate = bounds.estimate();
        let found = &mut self.found;
        found.n_calls = found.n_calls.saturating_add(bounds.n_calls);
        found.drift_ns = found.drift_ns.max(estimate.drift_ns);
        let offset = Offset {
            correction_ns: from.correction_ns + estimate.offset_ns,
            error_ns: from.error_ns.saturating_add(estimate.error_ns),
            method,
        };
        let known = found.each.get_mut(other)?;
        let is_better = known.is_none_or(|before| offset.error_ns < before.error_ns);
        is_better.then(|| {
            *known = Some(offset);
            offset.error_ns
        })
    }

    /// Bounds of all other clocks against that of the hub.
    fn bounds_against(&mut self, hub: usize, roads: Vec<Road<'_>>) -> BTreeMap<usize, Bounds> {
        let mut all: BTreeMap<usize, Bounds> = BTreeMap::new();
        for road in roads {
            let columns = columns(road.shared, self.places, self.domains);
            for (clock, column) in &columns {
                let within_ns = &mut self.found.contradictions_ns[*clock];
                *within_ns = contradiction_ns(column).max(*within_ns);
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
