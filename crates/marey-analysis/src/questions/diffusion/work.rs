//! What frames were made in, and when: blocks, or denoising steps.
//!
//! ```text
//! thread 1   |---- a ----||- b -|   |------ d -------|       c, of a pipeline within d, is a part of d
//!                                      |- c -|
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::passes::Made;
use super::steps::StepPoint;
use crate::intervals::{Interval, union_length_ns};
use crate::stats::{rate, sum};

/// What has frames of its own: a loop of steps, or a block.
#[derive(Default)]
pub(super) struct Unit {
    /// Most that one of its steps worked on.
    pub(super) frames: Option<u64>,
    /// The duration of a step is not known.
    is_untimed: bool,
}

fn unit(at: usize, step: &StepPoint, made: Made) -> u64 {
    if made == Made::Steps { step.loop_number } else { at as u64 }
}

/// All of them by number.
pub(super) fn units(each: &[StepPoint], made: Made) -> BTreeMap<u64, Unit> {
    let mut units: BTreeMap<u64, Unit> = BTreeMap::new();
    for (at, step) in each.iter().enumerate() {
        let found = units.entry(unit(at, step, made)).or_default();
        found.frames = found.frames.max(step.frames);
        found.is_untimed |= step.duration_ns.is_none();
    }
    units
}

/// An amount of what was made, and what it was made in.
pub(super) struct Work<'a> {
    pub(super) made: Made,
    /// `None` where it is known of none.
    pub(super) amount: Option<u64>,
    each: Vec<&'a StepPoint>,
    /// When, without what of a session lies in what is of another one: by thread, disjoint in each, or in each task of it.
    pub(super) spans: Vec<(u32, Interval)>,
    /// Sum of the durations as they were said.
    pub(super) duration_ns: u64,
}

impl<'a> Work<'a> {
    /// Of loops or blocks of which this amount and the time are known; none where there are none.
    pub(super) fn of(
        each: &'a [StepPoint],
        made: Made,
        amount: impl Fn(&Unit) -> Option<u64>,
    ) -> Self {
        let timed = units(each, made).into_iter().filter(|(_, unit)| !unit.is_untimed);
        let known = timed.filter_map(|(number, unit)| Some((number, amount(&unit)?)));
        let known: BTreeMap<u64, u64> = known.collect();
        let wanted = each.iter().enumerate();
        let wanted = wanted.filter(|(at, step)| known.contains_key(&unit(*at, step, made)));
        let amount = known.values().copied().reduce(u64::saturating_add);
        Self::when(made, amount, wanted.map(|(_, step)| step).collect())
    }

    /// Of blocks, otherwise of steps: those that say their frames where any do. `None` when no duration of either is known.
    pub(super) fn of_frames(blocks: &'a [StepPoint], steps: &'a [StepPoint]) -> Option<Self> {
        let of = |each: &'a [StepPoint], made| {
            let found = Self::of(each, made, |unit| unit.frames);
            let all = || Self::when(made, None, each.iter().collect());
            let found = if found.amount.is_some() { found } else { all() };
            (found.duration_ns > 0).then_some(found)
        };
        of(blocks, Made::Blocks).or_else(|| of(steps, Made::Steps))
    }

    /// The same with what did not say its frames, of the sessions that are wanted; `None` where a duration is missing.
    pub(super) fn whole(
        blocks: &'a [StepPoint],
        steps: &'a [StepPoint],
        is_wanted: impl Fn(Option<u32>) -> bool,
    ) -> Option<Self> {
        let has_blocks = blocks.iter().any(|block| block.duration_ns.is_some());
        let (made, each) = if has_blocks { (Made::Blocks, blocks) } else { (Made::Steps, steps) };
        let each: Vec<&StepPoint> = each.iter().filter(|step| is_wanted(step.session)).collect();
        let is_whole = each.iter().all(|step| step.duration_ns.is_some());
        let found = is_whole.then(|| Self::when(made, None, each));
        found.filter(|found| found.duration_ns > 0)
    }

    /// Of steps in order of their ends; those of which no duration is known are left out. None begins before the one before it in its
    /// thread has ended: a reported duration says how long, not since when, so several may be reported at once. Tasks of a thread do something
    /// at the same time, each one thing after the other.
    pub(super) fn when(made: Made, amount: Option<u64>, each: Vec<&'a StepPoint>) -> Self {
        let mut threads: BTreeMap<(u32, u16), Vec<(Interval, &StepPoint)>> = BTreeMap::new();
        for step in &each {
            let Some(Interval { start_ns: begun_ns, end_ns }) = step.time() else { continue };
            let before = threads.entry((step.thread, step.flow)).or_default();
            while before.last().is_some_and(|(span, last)| {
                last.session != step.session && begun_ns < span.start_ns
            }) {
                before.pop();
            }
            let earliest_ns = before.last().map_or(0, |(span, _)| span.end_ns);
            let start_ns = begun_ns.max(earliest_ns).min(end_ns);
            before.push((Interval { start_ns, end_ns }, *step));
        }
        let spans = || threads.values().flatten();
        Self {
            duration_ns: sum(spans().filter_map(|(_, step)| step.duration_ns)),
            spans: spans().map(|(span, step)| (step.thread, *span)).collect(),
            made,
            amount,
            each,
        }
    }

    /// "blocks" or "denoising steps".
    pub(super) fn name(&self) -> &'static str {
        if self.made == Made::Steps { "denoising steps" } else { "blocks" }
    }

    /// The sessions that it was made in.
    pub(super) fn sessions(&self) -> BTreeSet<Option<u32>> {
        self.each.iter().map(|step| step.session).collect()
    }

    /// When it was made, threads beside one another.
    pub(super) fn intervals(&self) -> Vec<Interval> {
        self.spans.iter().map(|(_, span)| *span).collect()
    }

    /// Its time; what threads did beside one another counts once.
    ///
    /// ```text
    /// thread 1   |---- 4 ----|              |-- 3 --|
    /// thread 2         |---- 4 ----|                         2 of 11 too much
    /// ```
    pub(super) fn time_ns(&self) -> u64 {
        let lengths = sum(self.spans.iter().map(|(_, span)| span.length_ns()));
        let beside_ns = lengths.saturating_sub(union_length_ns(self.intervals()));
        self.duration_ns.saturating_sub(beside_ns)
    }

    /// The amount in a second of it.
    pub(super) fn per_second(&self) -> Option<f64> {
        rate(self.amount?, self.time_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn turn(session: Option<u32>, end_ms: u64, duration_ms: u64) -> StepPoint {
        StepPoint {
            thread: 0,
            flow: 0,
            session,
            end_ns: end_ms * MS,
            duration_ns: Some(duration_ms * MS),
            ..StepPoint::default()
        }
    }

    fn of(told: &[StepPoint]) -> Work<'_> {
        Work::when(Made::Steps, None, told.iter().collect())
    }

    #[test]
    fn turns_of_one_session_that_are_told_at_once_follow_each_other() {
        // All of them after the work, 1 ms apart: 20, 30 and 25 ms.
        let told = [turn(None, 100, 20), turn(None, 101, 30), turn(None, 102, 25)];
        assert_eq!(of(&told).time_ns(), 75 * MS);
    }

    /// ```text
    /// task 1   |-- 10 --||-- 10 --|
    /// task 2    |-- 10 --||-- 10 --|      1 ms later, in the same thread
    /// ```
    #[test]
    fn turns_of_two_tasks_of_a_thread_are_beside_one_another() {
        let of_task = |flow, end_ms| StepPoint { flow, ..turn(Some(flow.into()), end_ms, 10) };
        let told = [of_task(1, 10), of_task(2, 11), of_task(1, 20), of_task(2, 21)];
        assert_eq!(of(&told).time_ns(), 21 * MS);
    }

    #[test]
    fn a_turn_of_another_session_within_a_turn_is_a_part_of_it() {
        let told = [turn(Some(0), 10, 10), turn(Some(1), 30, 10), turn(Some(0), 50, 35)];
        let made = of(&told);
        assert_eq!((made.spans.len(), made.time_ns()), (2, 45 * MS));
    }
}
