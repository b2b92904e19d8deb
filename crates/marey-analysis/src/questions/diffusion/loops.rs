//! Which passes belong to one loop of steps, and which of them are of the same step.
//!
//! ```text
//! session      |------------------ A ------------------| |---- B ----|
//! number        0  1  2  3    3  2  1  0    0 0  1 1      2  1  0
//! time step                                 ↓ ↓  ↓ ↓
//! loop          0  0  0  0    1  1  1  1    2 2  2 2      3  3  3
//! step          0  1  2  3    0  1  2  3    0 0  1 1      0  1  2      guided: two passes a step
//! ```
//!
//! A loop is of one thread (and task, of what is reported), session and block and, of sections, of one call of what they lie in. Numbers and time steps each go one way
//! in it: the second step says which. Another loop begins where one of them turns back. So it does not matter whether a program
//! counts up or down, and passes of two threads never mix, however they alternate.
//!
//! A pass of the same number as the one before it, with a time step if that had one, is another pass of that step: the unconditional one of
//! guidance, the second one of Heun's method. Where numbers never repeat, the same time step says so. More than [`MAX_PASSES`] of them are no passes of one step:
//! then each of a repeated number is a loop of its own, as that of a model that makes an image in one step, and time steps say nothing.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::steps::StepPoint;

/// Where a pass is in its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The loop, from 0, in order of their first ends.
    pub(super) loop_number: u64,
    /// Number of the step as reported, otherwise counted from 0.
    pub(super) number: u64,
    /// It is of the same step as the pass before it in its loop.
    pub(super) is_again: bool,
}

/// Most passes of one step: a guided one with a perturbed pass has three, a Runge-Kutta method of the fourth order four.
pub(super) const MAX_PASSES: u64 = 4;

/// The session, the thread with the flow, and the call that a loop is in.
type Key = (Option<u32>, (u32, u16), Option<u64>);

/// The place of each pass. Passes are in order of time; `block` says which block a pass belongs to, `max_passes` how many a step can have.
pub(super) fn places(
    passes: &[StepPoint],
    block: impl Fn(usize) -> Option<usize>,
    max_passes: u64,
) -> Vec<Place> {
    let key = |pass: &StepPoint| (pass.session, (pass.thread, pass.flow), pass.within_ns);
    let mut said: BTreeMap<Key, Said<'_>> = BTreeMap::new();
    for (index, pass) in passes.iter().enumerate() {
        said.entry(key(pass)).or_default().add(pass, block(index));
    }
    let mut n_loops = 0;
    let mut open: BTreeMap<Key, Loop<'_>> = BTreeMap::new();
    let place = |(index, pass)| {
        let (key, block) = (key(pass), block(index));
        let means = said[&key].means(max_passes);
        let last = open.get_mut(&key).filter(|last| last.block == block);
        if let Some(place) = last.and_then(|last| last.go_on(pass, means)) {
            return place;
        }
        n_loops += 1;
        let number = pass.number.unwrap_or(0);
        let place = Place { loop_number: n_loops - 1, number, is_again: false };
        open.insert(key, Loop { place, block, last: pass, ways: [None, None] });
        place
    };
    passes.iter().enumerate().map(place).collect()
}

/// What the passes of a thread, session and call said, all together.
#[derive(Default)]
struct Said<'a> {
    last: Option<(&'a StepPoint, Option<usize>)>,
    numbers: Values,
    timesteps: Values,
}

/// Values of successive passes.
#[derive(Default)]
struct Values {
    differ: bool,
    /// How many passes in a row had the same value, and the most that did.
    in_a_row: u64,
    most_in_a_row: u64,
}

/// What may be concluded from numbers and time steps.
#[derive(Clone, Copy)]
struct Means {
    numbers_differ: bool,
    numbers_repeat: Repeat,
    timesteps: bool,
}

/// How often a number is there in a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeat {
    /// Once.
    Never,
    /// As passes of one step are: numbers that differ tell the passes of each, and time steps say nothing more.
    AsPasses,
    /// More often: the same number does not mean the same step.
    TooOften,
}

impl<'a> Said<'a> {
    fn add(&mut self, pass: &'a StepPoint, block: Option<usize>) {
        let (last, last_block) = self.last.replace((pass, block)).unwrap_or((pass, block));
        let is_same_block = last_block == block;
        self.numbers.add(last.number == pass.number, is_same_block);
        // A pass that does not say its time step says nothing about time steps.
        if pass.timestep.is_some() {
            self.timesteps.add(last.timestep == pass.timestep, is_same_block);
        } else {
            self.timesteps.in_a_row = 0;
        }
    }

    fn means(&self, max_passes: u64) -> Means {
        let Values { differ, most_in_a_row, .. } = self.numbers;
        Means {
            numbers_differ: differ,
            numbers_repeat: match most_in_a_row {
                n if n > max_passes => Repeat::TooOften,
                0 | 1 => Repeat::Never,
                _ => Repeat::AsPasses,
            },
            timesteps: self.timesteps.differ && self.timesteps.most_in_a_row <= max_passes,
        }
    }
}

impl Values {
    fn add(&mut self, is_same: bool, is_same_block: bool) {
        self.differ |= !is_same;
        self.in_a_row = if is_same && is_same_block { self.in_a_row + 1 } else { 1 };
        self.most_in_a_row = self.most_in_a_row.max(self.in_a_row);
    }
}

/// A loop that may go on.
struct Loop<'a> {
    place: Place,
    block: Option<usize>,
    last: &'a StepPoint,
    /// Which way numbers and time steps go; `None` before the second step.
    ways: [Option<Ordering>; 2],
}

impl<'a> Loop<'a> {
    /// The place of the next pass; `None` where another loop begins with it.
    fn go_on(&mut self, pass: &'a StepPoint, means: Means) -> Option<Place> {
        let numbers = pass.number.zip(self.last.number);
        let number = numbers.map(|(to, from)| to.cmp(&from));
        let timesteps = pass.timestep.zip(self.last.timestep).filter(|_| means.timesteps);
        let timestep = timesteps.and_then(|(to, from)| to.partial_cmp(&from));
        let moves = [number, timestep];
        let is_again = self.is_again(pass, moves, means);
        if !is_again {
            self.take(moves, means)?;
        }
        self.last = pass;
        self.place.number = match pass.number {
            _ if is_again => self.place.number,
            Some(number) if means.numbers_differ => number,
            _ => self.place.number.saturating_add(1),
        };
        self.place.is_again = is_again;
        Some(self.place)
    }

    fn is_again(&self, pass: &StepPoint, moves: [Option<Ordering>; 2], means: Means) -> bool {
        let [number, timestep] = moves;
        let is_same_number = number == Some(Ordering::Equal);
        // Passes of a step come from one place in the program, which says the time step or does not.
        if pass.timestep.is_some() != self.last.timestep.is_some() {
            return false;
        }
        // The second pass of Heun's method goes the loop's way.
        let way = self.ways[1].zip(timestep);
        if way.is_some_and(|(way, moved)| moved.is_ne() && moved != way) {
            return false;
        }
        let is_told = means.numbers_differ && means.numbers_repeat == Repeat::AsPasses;
        if number.is_some() && is_told {
            return is_same_number;
        }
        if timestep == Some(Ordering::Equal) {
            return true;
        }
        // A number that never differs is none; then a pass of another scale is the other one of a guided step, and so is one of the same block.
        is_same_number
            && means.numbers_repeat != Repeat::TooOften
            && (means.numbers_differ
                || self.block.is_some()
                || (timestep.is_none() && pass.guidance_scale != self.last.guidance_scale))
    }

    /// Takes the next step's way; `None` where it turns back, or where it is at the same number again.
    fn take(&mut self, moves: [Option<Ordering>; 2], means: Means) -> Option<()> {
        let [number, timestep] = moves;
        let is_elsewhere = timestep.is_some() && !means.numbers_differ;
        if number == Some(Ordering::Equal) && !is_elsewhere {
            return None;
        }
        for (way, moved) in self.ways.iter_mut().zip(moves) {
            let moved = moved.filter(|moved| moved.is_ne());
            if way.zip(moved).is_some_and(|(way, moved)| way != moved) {
                return None;
            }
            *way = way.or(moved);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::StepPoint as Pass;
    use super::*;

    fn pass(session: Option<u32>, thread: u32, number: Option<u64>) -> Pass {
        Pass { session, thread, number, ..Pass::default() }
    }

    fn numbered<const N: usize>(numbers: [u64; N]) -> [Pass; N] {
        numbers.map(|n| pass(None, 0, Some(n)))
    }

    /// Loop and number of each pass; those of the same step as the one before it are left out.
    fn shown(passes: &[Pass]) -> Vec<(u64, u64)> {
        let places = places(passes, |_| None, MAX_PASSES);
        let steps = places.iter().filter(|place| !place.is_again);
        steps.map(|p| (p.loop_number, p.number)).collect()
    }

    #[test]
    fn a_loop_begins_where_the_number_turns_back() {
        let expected = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 5), (1, 9)];
        assert_eq!(shown(&numbered([0, 1, 2, 0, 1, 5, 9])), expected);
        let expected = [(0, 9), (0, 5), (0, 1), (1, 9), (1, 5), (2, 8), (2, 0)];
        assert_eq!(shown(&numbered([9, 5, 1, 9, 5, 8, 0])), expected);
    }

    #[test]
    fn loops_of_two_steps_are_told_apart_up_and_down() {
        let expected = [(0, 0), (0, 1), (1, 0), (1, 1)];
        assert_eq!(shown(&numbered([0, 1, 0, 1])), expected);
        let expected = [(0, 1), (0, 0), (1, 1), (1, 0)];
        assert_eq!(shown(&numbered([1, 0, 1, 0])), expected);
    }

    #[test]
    fn passes_of_the_same_number_are_of_one_step() {
        let guided = numbered([0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
        let expected = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
        assert_eq!(shown(&guided), expected);
        let perturbed = numbered([2, 2, 2, 1, 1, 1, 0, 0, 0]);
        assert_eq!(shown(&perturbed), [(0, 2), (0, 1), (0, 0)]);
    }

    #[test]
    fn what_says_no_time_step_is_no_pass_of_a_step_that_does() {
        // Guided: 0 0 1 1. Then two loops of other programs, of which one says time steps: 0 1, and 1 0.
        let guided = [(0, 0.9), (0, 0.9), (1, 0.4), (1, 0.4)].map(|(n, t)| timed(Some(n), t));
        let other = [timed(Some(0), 0.9), timed(Some(1), 0.4)];
        let untimed = numbered([1, 0]);
        let passes = [&guided[..], &other, &untimed].concat();
        let expected = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (2, 0)];
        assert_eq!(shown(&passes), expected);
    }

    #[test]
    fn a_step_of_the_number_before_whose_time_step_turns_back_begins_a_loop() {
        // Down: 2 1 0, then up: 0 1 2. Guided ones besides, so that numbers repeat.
        let steps = [(2, 0.9), (1, 0.6), (0, 0.3), (0, 0.9), (1, 0.6), (2, 0.3)];
        let guided = [(0, 0.9), (0, 0.9), (1, 0.4), (1, 0.4)];
        let passes: Vec<Pass> =
            steps.iter().chain(&guided).map(|(n, t)| timed(Some(*n), *t)).collect();
        let expected = [(0, 2), (0, 1), (0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)];
        assert_eq!(shown(&passes), expected);
    }

    #[test]
    fn loops_of_two_tasks_of_one_thread_are_two() {
        let of_task = |flow, number| Pass { flow, ..pass(None, 0, Some(number)) };
        let passes = [of_task(1, 0), of_task(2, 0), of_task(1, 1), of_task(2, 1)];
        assert_eq!(shown(&passes), [(0, 0), (1, 0), (0, 1), (1, 1)]);
    }

    #[test]
    fn two_passes_of_the_one_step_of_each_block_are_that_step() {
        let passes: Vec<Pass> = (0..8).map(|_| timed(Some(0), 1000.0)).collect();
        let blocks = places(&passes, |index| Some(index / 2), MAX_PASSES);
        let steps: Vec<(u64, bool)> = blocks.iter().map(|p| (p.loop_number, p.is_again)).collect();
        let of_block = |n| [(n, false), (n, true)];
        assert_eq!(steps, [0, 1, 2, 3].map(of_block).concat());
    }

    #[test]
    fn images_of_one_step_are_loops_of_their_own() {
        assert_eq!(shown(&numbered([0, 0, 0])), [(0, 0), (1, 0), (2, 0)]);
        // Six drafts of one step before an image of three.
        let drafts = shown(&numbered([0, 0, 0, 0, 0, 0, 1, 2]));
        let loops: Vec<u64> = drafts.iter().map(|(loop_number, _)| *loop_number).collect();
        assert_eq!(loops, [0, 1, 2, 3, 4, 5, 5, 5]);
    }

    #[test]
    fn a_guided_image_of_one_step_is_told_by_the_scale() {
        let passes = [7.5, 0.0, 7.5, 0.0]
            .map(|scale| Pass { guidance_scale: Some(scale), ..pass(None, 0, Some(0)) });
        // Nothing says that the third begins another image.
        assert_eq!(shown(&passes), [(0, 0)]);
        let blocks = places(&passes, |index| Some(index / 2), MAX_PASSES);
        let again: Vec<bool> = blocks.iter().map(|place| place.is_again).collect();
        assert_eq!(again, [false, true, false, true]);
    }

    #[test]
    fn time_steps_tell_loops_apart_where_numbers_go_on() {
        // One counter for two images.
        let timesteps = [900.0, 600.0, 300.0, 900.0, 600.0, 300.0];
        let passes: Vec<Pass> = (0..).zip(timesteps).map(|(n, t)| timed(Some(n), t)).collect();
        let expected = [(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 5)];
        assert_eq!(shown(&passes), expected);
        let unnumbered: Vec<Pass> = timesteps.map(|t| timed(None, t)).into();
        let expected = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)];
        assert_eq!(shown(&unnumbered), expected);
    }

    fn timed(number: Option<u64>, timestep: f64) -> Pass {
        Pass { timestep: Some(timestep), ..pass(None, 0, number) }
    }

    #[test]
    fn the_second_pass_of_heuns_method_has_the_time_step_of_the_first() {
        // The scheduler counts evaluations: four steps are seven of them.
        let timesteps = [999.0, 749.0, 749.0, 499.0, 499.0, 249.0, 249.0];
        let passes: Vec<Pass> = (0..).zip(timesteps).map(|(n, t)| timed(Some(n), t)).collect();
        assert_eq!(shown(&passes).len(), 4);
    }

    #[test]
    fn both_evaluations_of_heuns_method_under_one_number_are_one_step() {
        // number      0    0   1   1
        // time step   1   .5  .5   0       the second of a step is where the first of the next one is
        let passes = [(0, 1.0), (0, 0.5), (1, 0.5), (1, 0.0)].map(|(n, t)| timed(Some(n), t));
        assert_eq!(shown(&passes), [(0, 0), (0, 1)]);
    }

    #[test]
    fn passes_without_a_time_step_take_nothing_from_those_that_have_one() {
        // number      0  1 | 2   1   0  | then three passes each of 1 and 0 without
        // time step   1 .5 | 1  .67 .33
        let told = [(0, 1.0), (1, 0.5), (2, 1.0), (1, 0.67), (0, 0.33)];
        let told = told.map(|(n, t)| timed(Some(n), t));
        let silent = numbered([1, 1, 1, 0, 0, 0]);
        let passes: Vec<Pass> = told.into_iter().chain(silent).collect();
        let places = super::places(&passes, |at| Some(usize::from(at >= 5)), MAX_PASSES);
        let loops: Vec<u64> = places.iter().map(|place| place.loop_number).collect();
        assert_eq!(loops, [0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn a_time_step_that_is_always_the_same_says_nothing() {
        let passes = [0, 1, 2, 3, 4, 5].map(|n| timed(Some(n), 0.0));
        assert_eq!(shown(&passes).len(), 6);
    }

    #[test]
    fn loops_of_two_threads_and_sessions_do_not_mix() {
        let passes =
            [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)].map(|(thread, n)| pass(None, thread, Some(n)));
        assert_eq!(shown(&passes), [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]);
        let passes = [(0, 0), (1, 1), (0, 1)].map(|(s, n)| pass(Some(s), 0, Some(n)));
        assert_eq!(shown(&passes), [(0, 0), (1, 1), (0, 1)]);
    }

    #[test]
    fn passes_without_a_number_are_counted() {
        let passes = [None, None, Some(7), None].map(|n| pass(None, 0, n));
        assert_eq!(shown(&passes), [(0, 0), (0, 1), (0, 7), (0, 8)]);
        let last = [Some(u64::MAX), None].map(|n| pass(None, 0, n));
        assert_eq!(shown(&last), [(0, u64::MAX), (0, u64::MAX)]);
    }

    #[test]
    fn numbers_that_go_on_in_the_next_block_begin_a_loop() {
        let passes = numbered([0, 1, 2, 3]);
        let places = places(&passes, |index| Some(index / 2), MAX_PASSES);
        let loops: Vec<u64> = places.iter().map(|p| p.loop_number).collect();
        assert_eq!(loops, [0, 0, 1, 1]);
    }
}
