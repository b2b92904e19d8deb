//! What has to be added to each clock to get that of the reference?

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::{self, Bounds, Column, by_marks, contradiction_ns};
use crate::intervals::Interval;
use crate::job::RankSummary;
use crate::questions::ranks::shared_calls::{SharedCalls, numbered_alike};
use crate::questions::ranks::{ClockMethod, placed};

/// How far a clock is from that of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// Added to the clock, it gives the reference's.
    pub(super) correction_ns: i128,
    /// Right within this, either way; `None` when nothing bounds it.
    pub(super) error_ns: Option<u64>,
    pub(super) method: ClockMethod,
}

/// What is known of the clocks, by their numbers.
#[derive(Default)]
pub(super) struct Offsets {
    /// Which clock each place reads.
    of_place: Vec<usize>,
    /// `None` where nothing ties one to the reference.
    each: Vec<Option<Offset>>,
    /// The most that ranks which read a clock contradict each other by.
    contradictions_ns: Vec<u64>,
    /// The most that calls between two clocks contradict each other by.
    pub(super) drift_ns: u64,
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
pub(super) fn offsets(places: &[&RankSummary], shared: &[SharedCalls<'_>]) -> Offsets {
    let mut found = Offsets::of_reference(places);
    found.reach(places, shared.iter().filter(|one| one.is_meeting()));
    let n_reached = found.each.iter().flatten().count();
    let is_start = |one: &&SharedCalls<'_>| one.is_matched() && one.is_start_up();
    found.reach(places, shared.iter().filter(is_start));
    found.is_by_start_up = found.each.iter().flatten().count() > n_reached;
    if found.each.contains(&None) {
        found.place_by_marks(places);
    }
    found
}

/// Calls that lead from any of these clocks to any other.
struct Road<'a> {
    shared: &'a SharedCalls<'a>,
    clocks: BTreeSet<usize>,
}

impl Offsets {
    /// Processes of one start of a machine share a clock. One that does not say which start, or when it began, has its own. The reference is
    /// the clock of the lowest rank that says when it began; of the lowest of all, when none does.
    fn of_reference(places: &[&RankSummary]) -> Self {
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
        let dated = places.iter().position(|one| one.process.start_ns().is_some());
        let reference = of_place.get(dated.unwrap_or_default()).copied().unwrap_or_default();
        let zero = Offset { correction_ns: 0, error_ns: Some(0), method: ClockMethod::SameClock };
        Self {
            of_place,
            each: (0..n_clocks).map(|clock| (clock == reference).then_some(zero)).collect(),
            contradictions_ns: vec![0; n_clocks],
            ..Self::default()
        }
    }

    /// Of a place; what ranks of its clock contradict each other by is in the error.
    pub(super) fn of(&self, place: usize) -> Option<Offset> {
        let clock = *self.of_place.get(place)?;
        let offset = (*self.each.get(clock)?)?;
        let contradiction_ns = self.contradictions_ns.get(clock).copied().unwrap_or_default();
        let error_ns = offset.error_ns.map(|ns| ns.saturating_add(contradiction_ns));
        Some(Offset { error_ns, ..offset })
    }

    /// The most that ranks which read one clock contradict each other by.
    pub(super) fn contradiction_ns(&self) -> u64 {
        self.contradictions_ns.iter().copied().max().unwrap_or_default()
    }

    /// Finds clocks that are not known yet, over the calls that are given.
    fn reach<'a>(
        &mut self,
        places: &[&RankSummary],
        calls: impl Iterator<Item = &'a SharedCalls<'a>>,
    ) {
        let road = |shared: &'a SharedCalls<'a>| {
            let read = shared.matched.iter().map(|(place, _)| self.of_place[*place as usize]);
            Road { shared, clocks: read.collect() }
        };
        let mut roads: Vec<Road<'_>> = calls.map(road).collect();
        let mut is_fixed: Vec<bool> = self.each.iter().map(Option::is_some).collect();
        let mut is_left = vec![false; is_fixed.len()];
        while !roads.is_empty() {
            let known = self.each.iter().enumerate().filter(|(clock, _)| !is_left[*clock]);
            let known =
                known.filter_map(|(clock, offset)| Some((offset.as_ref()?.error_ns?, clock)));
            let Some((error_ns, hub)) = known.min() else { return };
            (is_fixed[hub], is_left[hub]) = (true, true);
            let (here, elsewhere) = roads.into_iter().partition(|r| r.clocks.contains(&hub));
            roads = elsewhere;
            for (other, bounds) in self.bounds_against(hub, here, places) {
                if !is_fixed[other] {
                    self.improve(hub, error_ns, other, bounds);
                }
            }
        }
    }

    /// Takes the way over the hub, if that is better than what is known.
    fn improve(&mut self, hub: usize, hub_error_ns: u64, other: usize, bounds: Bounds) {
        let estimate = bounds.estimate();
        self.drift_ns = self.drift_ns.max(estimate.drift_ns);
        let error_ns = hub_error_ns.saturating_add(estimate.error_ns);
        let known_ns = self.each[other].and_then(|before| before.error_ns);
        if known_ns.is_none_or(|before_ns| error_ns < before_ns) {
            let of_hub_ns = self.each[hub].map_or(0, |hub| hub.correction_ns);
            self.each[other] = Some(Offset {
                correction_ns: of_hub_ns + estimate.offset_ns,
                error_ns: Some(error_ns),
                method: ClockMethod::Collectives,
            });
        }
    }

    /// Bounds of all other clocks against that of the hub.
    fn bounds_against(
        &mut self,
        hub: usize,
        roads: Vec<Road<'_>>,
        places: &[&RankSummary],
    ) -> BTreeMap<usize, Bounds> {
        let mut all: BTreeMap<usize, Bounds> = BTreeMap::new();
        for Road { shared, .. } in roads {
            let calls = shared.matched.iter().map(|(place, calls)| (*place, calls.iter().copied()));
            let columns = self.columns(places, calls);
            if shared.is_meeting() {
                for (clock, column) in &columns {
                    let within_ns = &mut self.contradictions_ns[*clock];
                    *within_ns = contradiction_ns(column).max(*within_ns);
                }
            } else if columns.values().any(|one| contradiction_ns(one) > 0) {
                // Not all had come when some left: torch lets some backends do so.
                continue;
            }
            let Some(of_hub) = columns.get(&hub) else { continue };
            for (other, column) in columns.iter().filter(|(other, _)| **other != hub) {
                if let Some(bounds) = Bounds::between(of_hub, column) {
                    let both = all.get(other).map_or(bounds, |before| before.and(bounds));
                    all.insert(*other, both);
                }
            }
        }
        all
    }

    /// By clock, of the calls of each place.
    fn columns(
        &self,
        places: &[&RankSummary],
        each: impl Iterator<Item = (u32, impl Iterator<Item = Interval>)>,
    ) -> BTreeMap<usize, Column> {
        let mut columns: BTreeMap<usize, Column> = BTreeMap::new();
        for (place, calls) in each {
            let began_ns = places[place as usize].process.start_ns().unwrap_or_default();
            let column = columns.entry(self.of_place[place as usize]).or_default();
            bounds::add(column, began_ns, calls);
        }
        columns
    }

    /// Places clocks that are not known yet by the marks that they have in common with the one that is known best. The n-th mark of one rank is
    /// the n-th of the others, under the conditions of calls.
    fn place_by_marks(&mut self, places: &[&RankSummary]) {
        let set =
            |rank: &RankSummary| rank.n_marks_left_out.saturating_add(rank.marks.len() as u64);
        let having: Vec<(u32, &RankSummary)> =
            placed(places).filter(|(_, rank)| set(rank) > 0).collect();
        let marks = numbered_alike(&having, set, places).into_iter();
        let moment = |at_ns: &u64| Interval { start_ns: *at_ns, end_ns: *at_ns };
        let columns =
            self.columns(places, marks.map(|(place, rank)| (place, rank.marks.iter().map(moment))));
        let hubs = columns.iter().filter_map(|(clock, column)| {
            let offset = self.each[*clock]?;
            Some((offset.error_ns?, *clock, offset.correction_ns, column))
        });
        let Some((_, _, of_hub_ns, hub)) = hubs.min() else { return };
        for (clock, column) in &columns {
            if self.each[*clock].is_none()
                && let Some((offset_ns, scatter_ns)) = by_marks(hub, column)
            {
                self.scatter_ns = self.scatter_ns.max(scatter_ns);
                self.each[*clock] = Some(Offset {
                    correction_ns: of_hub_ns + offset_ns,
                    error_ns: None,
                    method: ClockMethod::StartMarks,
                });
            }
        }
    }
}
