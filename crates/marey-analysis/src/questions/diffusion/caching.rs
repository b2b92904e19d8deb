//! Which steps did a cache answer, and what did that save?
//!
//! ```text
//! step      |---- 0 ----|---- 1 ----|-2-|---- 3 ----|-4-|
//! teacache  miss         miss        hit miss        hit       cached: 2 and 4
//! ```
//!
//! A decision belongs to the step with the number (and block) that it names, the nearest one in time; one that names none to the step
//! during which it was made, if there is exactly one. A block that no step of the decision's session has says nothing: a program may count
//! its chunks on from one generation to the next. Steps that were reported begin, if that finds none, where the one before them in
//! their thread ended: what a program says of a step's time need not hold all of it. A step is cached when one of the caches was asked for
//! it and always answered.

use std::collections::{BTreeMap, BTreeSet};

use marey::{CacheEvent, CacheOutcome, Run};
use serde::Serialize;

use super::durations::Durations;
use super::named::is_step_cache;
use super::steps::StepPoint;
use crate::questions::session_assignment::SessionAssignment;
use crate::stats::{float, median_of};

/// What caches did for steps.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct StepCaching {
    /// Steps that a cache answered.
    pub cached: Option<Durations>,
    /// Steps of which a cache was asked in vain, or not at all, warm-up apart.
    pub computed: Option<Durations>,
    /// How many steps a cache answered.
    pub n_cached: u64,
    /// How many were computed, warm-up included.
    pub n_computed: u64,
    /// Median computed step less median cached step of a pipeline, times its cached steps; of all pipelines together. `None` when a
    /// median is not known. Negative when cached steps took longer.
    pub saved_ns: Option<f64>,
}

/// Tells steps which of them a cache answered.
pub(super) fn mark(steps: &mut [StepPoint], run: &Run, assignment: &SessionAssignment<'_>) {
    let events = run.cache_events.iter();
    let of_steps = events.filter(|event| is_step_cache(&event.cache));
    let session = |event: &CacheEvent| assignment.of_record(event.session, None, event.at_ns);
    let asked: Vec<(&CacheEvent, Option<u32>)> =
        of_steps.map(|event| (event, session(event))).collect();
    let places = Places::of(steps, &asked);
    // Whether a cache always answered, by step and cache.
    let mut decisions: BTreeMap<(usize, &str), bool> = BTreeMap::new();
    for (event, session) in asked {
        let is_hit = match event.outcome {
            CacheOutcome::Hit => true,
            CacheOutcome::Miss => false,
            CacheOutcome::Eviction | CacheOutcome::Lookup => continue,
        };
        if let Some(step) = places.step_of(event, session) {
            *decisions.entry((step, &event.cache)).or_insert(true) &= is_hit;
        }
    }
    for ((step, _), answered) in decisions {
        let is_cached = &mut steps[step].is_cached;
        *is_cached = Some(is_cached.unwrap_or(false) || answered);
    }
}

/// Figures of both kinds of steps; `None` when no cache said anything of a step.
pub(super) fn caching(steps: &[StepPoint]) -> Option<StepCaching> {
    steps.iter().find(|step| step.is_cached.is_some())?;
    let is_cached = |step: &&StepPoint| step.is_cached == Some(true);
    let n_cached = steps.iter().filter(is_cached).count() as u64;
    Some(StepCaching {
        saved_ns: saved_ns(steps),
        cached: Durations::of(durations(steps, true)),
        computed: Durations::of(durations(steps, false)),
        n_cached,
        n_computed: steps.len() as u64 - n_cached,
    })
}

/// Of the steps that a cache answered, or of all others without the warm-up.
pub(super) fn durations<'a>(
    steps: impl IntoIterator<Item = &'a StepPoint>,
    of_cached: bool,
) -> impl Iterator<Item = u64> {
    let wanted = steps.into_iter().filter(move |step| {
        let is_cached = step.is_cached == Some(true);
        is_cached == of_cached && (of_cached || !step.is_warm_up)
    });
    wanted.filter_map(|step| step.duration_ns)
}

/// Of each pipeline by its own medians.
fn saved_ns(steps: &[StepPoint]) -> Option<f64> {
    let cached = || steps.iter().filter(|step| step.is_cached == Some(true));
    let using: BTreeSet<Option<usize>> = cached().map(|step| step.pipeline).collect();
    let saved = using.iter().map(|pipeline| {
        let is_its = |step: &&StepPoint| step.pipeline == *pipeline;
        let middle = |of_cached| median_of(durations(steps.iter().filter(is_its), of_cached));
        let n_cached = cached().filter(is_its).count() as u64;
        Some((middle(false)? - middle(true)?) * float(n_cached))
    });
    let saved: Option<Vec<f64>> = saved.collect();
    saved.filter(|each| !each.is_empty()).map(|each| each.iter().sum())
}

/// Steps by what a decision may name.
struct Places<'a> {
    steps: &'a [StepPoint],
    /// When each one began, as far as that is known: not before the one before it in its thread ended.
    begun_ns: Vec<u64>,
    /// When the one before it in its thread ended.
    after_ns: Vec<u64>,
    /// Ascending by end, as the steps are: with the number of the block, and without it.
    by_number: BTreeMap<(u64, Option<u64>), Vec<usize>>,
    /// Sessions in which decisions name blocks that none of their steps has.
    counted_on: BTreeSet<Option<u32>>,
}

/// Steps of several threads that are looked at for a decision without a number.
const MAX_AT_ONCE: usize = 16;

impl<'a> Places<'a> {
    fn of(steps: &'a [StepPoint], asked: &[(&CacheEvent, Option<u32>)]) -> Self {
        let of_session = steps.iter().map(|step| (step.session, step.block));
        let of_any = steps.iter().map(|step| (None, step.block));
        let known: BTreeSet<(Option<u32>, Option<u64>)> = of_session.chain(of_any).collect();
        let unknown =
            asked.iter().filter(|(event, session)| !known.contains(&(*session, event.block)));
        let mut last_end: BTreeMap<(u32, u16), u64> = BTreeMap::new();
        let mut places = Self {
            steps,
            begun_ns: Vec::with_capacity(steps.len()),
            after_ns: Vec::with_capacity(steps.len()),
            by_number: BTreeMap::new(),
            counted_on: unknown.map(|(_, session)| *session).collect(),
        };
        for (index, step) in steps.iter().enumerate() {
            let before = last_end.insert((step.thread, step.flow), step.end_ns).unwrap_or(0);
            let begun_ns = step.time().map_or(0, |time| time.start_ns);
            places.begun_ns.push(begun_ns.max(before));
            places.after_ns.push(before);
            let blocks = [None].into_iter().chain(step.block.map(Some));
            for block in blocks {
                places.by_number.entry((step.step, block)).or_default().push(index);
            }
        }
        places
    }

    fn step_of(&self, event: &CacheEvent, session: Option<u32>) -> Option<usize> {
        let block = event.block.filter(|_| !self.counted_on.contains(&session));
        let fits = |index: &usize| {
            let step = &self.steps[*index];
            let fits_session =
                session.is_none() || step.session.is_none() || session == step.session;
            fits_session && block.is_none_or(|block| step.block.is_none_or(|b| b == block))
        };
        let Some(number) = event.step else {
            return self.only_during(event.at_ns, fits);
        };
        let of_block = self.by_number.get(&(number, block));
        let numbered = of_block.or_else(|| self.by_number.get(&(number, None)))?;
        self.nearest(numbered, event.at_ns, fits)
    }

    /// The only step that went on then.
    fn only_during(&self, at_ns: u64, fits: impl Fn(&usize) -> bool) -> Option<usize> {
        let next = self.steps.partition_point(|step| step.end_ns <= at_ns);
        let only = |begun_ns: &[u64], is_known: fn(&StepPoint) -> bool| {
            let mut during = (next..self.steps.len()).take(MAX_AT_ONCE).filter(|index| {
                is_known(&self.steps[*index]) && begun_ns[*index] <= at_ns && fits(index)
            });
            let first = during.next()?;
            during.next().is_none().then_some(first)
        };
        only(&self.begun_ns, |step| step.duration_ns.is_some())
            .or_else(|| only(&self.after_ns, |step| step.node.is_none()))
    }

    /// The one that is nearest in time; of two the later one, because steps are reported at their end.
    fn nearest(&self, among: &[usize], at_ns: u64, fits: impl Fn(&usize) -> bool) -> Option<usize> {
        let next = among.partition_point(|index| self.steps[*index].end_ns < at_ns);
        let after = among[next..].iter().copied().find(|index| fits(index));
        let before = among[..next].iter().rev().copied().find(|index| fits(index));
        let (Some(later), Some(earlier)) = (after, before) else {
            return after.or(before);
        };
        let to_later_ns = self.begun_ns[later].saturating_sub(at_ns);
        let to_earlier_ns = at_ns.saturating_sub(self.steps[earlier].end_ns);
        Some(if to_later_ns <= to_earlier_ns { later } else { earlier })
    }
}

#[cfg(test)]
mod tests;
