//! How does the time of a step grow with the length of the context?
//!
//! ```text
//! ms   |                        ·          each point: the median computed step of a block
//!      |              ·    ·               the line: median of the slopes of all pairs of blocks (Theil-Sen),
//!      |         ·                         which a few odd blocks do not move
//!      |  (·)
//!      +---0----1----2----3----4- block    the block of the warm-up is left out
//! ```
//!
//! The interval is Sen's (1968): of the ascending slopes those that are as far from the middle as Kendall's score can be by chance, once in
//! twenty. Where the interval holds 0 no growth is claimed. Of several generations the one with most blocks is asked: others may be of
//! another size.

use std::collections::BTreeMap;

use serde::Serialize;

use super::steps::StepPoint;
use crate::stats::{float, median_of};

/// A straight line through step times over the context that they had.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ContextGrowth {
    /// Blocks that it is made of, all of one generation.
    pub n_blocks: u64,
    /// Median computed step of the first steady block.
    pub first_ns: f64,
    /// Median computed step of its last block.
    pub last_ns: f64,
    /// Those two blocks, as indices into the blocks of the run.
    pub between: [usize; 2],
    /// Growth of a step with each block more of context (median of the slopes of all pairs of blocks). Negative when steps
    /// became shorter.
    pub per_block_ns: f64,
    /// Both ends of its interval, 95 %. 0 is not in it.
    pub interval_ns: [f64; 2],
}

/// Blocks of a generation that a line goes through at most; of more every so many.
const MAX_BLOCKS: usize = 400;
/// Standard deviations of Kendall's score that leave one in twenty outside.
const SCORES: f64 = 1.96;

/// A block: its number in the generation, its place among the blocks, and its median step.
#[derive(Clone, Copy)]
struct Point {
    number: u64,
    at: usize,
    median_ns: f64,
}

/// `None` unless blocks are enough for an interval and 0 is not in it.
pub(super) fn growth(steps: &[StepPoint], blocks: &[StepPoint]) -> Option<ContextGrowth> {
    let generations = points_by_generation(steps, blocks);
    // Of generations of equal length the first.
    let longest = generations.values().rev().max_by_key(|points| points.len())?;
    let (first, last) = (longest.first()?, longest.last()?);
    let mut found = slopes(longest);
    found.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = ((found.len().checked_sub(1)?) / 2, found.len() / 2);
    let interval_ns = interval(&found, SCORES * variance(thinned(longest).count()).sqrt())?;
    Some(ContextGrowth {
        n_blocks: longest.len() as u64,
        first_ns: first.median_ns,
        last_ns: last.median_ns,
        between: [first.at, last.at],
        per_block_ns: f64::midpoint(found[lower], found[upper]),
        interval_ns,
    })
    .filter(|growth| growth.interval_ns[0] > 0.0 || growth.interval_ns[1] < 0.0)
}

/// Of Kendall's score of a series of `n` values without any trend.
fn variance(n: usize) -> f64 {
    let n = float(n as u64);
    n * (n - 1.0) * (2.0 * n + 5.0) / 18.0
}

/// Ends of the interval of ascending slopes, where the score is at most `reach` from none; `None` when there are too few for one.
fn interval(slopes: &[f64], reach: f64) -> Option<[f64; 2]> {
    let all = float(slopes.len() as u64);
    // As many slopes as that lie below the interval, and above, to the nearest whole number.
    let outside = (0..slopes.len()).take_while(|n| float(*n as u64) + 0.5 <= (all - reach) / 2.0);
    let lower = outside.count().checked_sub(1)?;
    Some([slopes[lower], slopes[slopes.len() - 1 - lower]])
}

fn points_by_generation(steps: &[StepPoint], blocks: &[StepPoint]) -> BTreeMap<u64, Vec<Point>> {
    let mut own: Vec<Vec<&StepPoint>> = vec![Vec::new(); blocks.len()];
    for step in steps {
        if let Some(of_block) = step.block_at.and_then(|at| own.get_mut(at)) {
            of_block.push(step);
        }
    }
    let mut found: BTreeMap<u64, Vec<Point>> = BTreeMap::new();
    for (at, (block, steps)) in blocks.iter().zip(own).enumerate() {
        let has_warm_up = steps.iter().any(|step| step.is_warm_up);
        let computed = steps.iter().filter(|step| step.is_cached != Some(true) && !has_warm_up);
        if let Some(median_ns) = median_of(computed.filter_map(|step| step.duration_ns)) {
            let point = Point { number: block.step, at, median_ns };
            found.entry(block.loop_number).or_default().push(point);
        }
    }
    found
}

/// Every so many of the points where there are very many.
fn thinned(points: &[Point]) -> impl Iterator<Item = Point> {
    let every = points.len().div_ceil(MAX_BLOCKS).max(1);
    points.iter().copied().step_by(every)
}

fn slopes(points: &[Point]) -> Vec<f64> {
    let points: Vec<Point> = thinned(points).collect();
    let mut found = Vec::new();
    for (index, from) in points.iter().enumerate() {
        for to in &points[index + 1..] {
            let distance = float(to.number.saturating_sub(from.number));
            if distance > 0.0 {
                found.push((to.median_ns - from.median_ns) / distance);
            }
        }
    }
    found
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "figures of a few round numbers are exact")]
mod tests {
    use crate::{ContextGrowth, Thresholds, diffusion};
    use marey::{BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation, Run};
    use marey_testing::RunBuilder;

    fn found(run: &Run) -> Option<ContextGrowth> {
        diffusion(run, &Thresholds::default()).unwrap().growth
    }

    /// Blocks of steps with these lengths.
    fn blocks(lengths: &[&[u64]]) -> RunBuilder {
        let mut builder = RunBuilder::new();
        let mut at_ns = 0;
        for (index, steps) in (0..).zip(lengths) {
            for (number, length_ns) in (0..).zip(*steps) {
                at_ns += length_ns;
                let step = DiffusionStep {
                    step: Some(number),
                    computation_ns: Some(*length_ns),
                    ..DiffusionStep::default()
                };
                builder = builder.generation(at_ns, None, Generation::Step(step));
            }
            let block = BlockComputation { index: Some(index), ..BlockComputation::default() };
            builder = builder.generation(at_ns, None, Generation::Block(block));
        }
        builder
    }

    #[test]
    fn a_step_that_grows_by_10_with_each_block_grows_by_10_a_block() {
        let lengths: [&[u64]; 6] = [&[900, 100], &[110, 110], &[120], &[130], &[140], &[150]];
        let found = found(&blocks(&lengths).finish(9999)).unwrap();
        assert_eq!((found.n_blocks, found.per_block_ns), (5, 10.0));
        assert_eq!(found.interval_ns, [10.0, 10.0]);
        assert_eq!((found.first_ns, found.last_ns), (110.0, 150.0));
        assert_eq!(found.between, [1, 5]);
    }

    #[test]
    fn one_odd_block_does_not_move_the_line() {
        // Of the 45 pairs of blocks 1 to 10 nine have the odd one; the other 36 are 10, and so is the interval: the score's deviation is
        // √(10 × 9 × 25 / 18) = 11.2, so (45 − 1.96 × 11.2) / 2 = 12 slopes lie below the interval and 12 above, of which the odd ones are at most 9.
        let lengths = [900, 110, 120, 700, 140, 150, 160, 170, 180, 190, 200].map(|ns| [ns]);
        let lengths = lengths.each_ref().map(|ns| &ns[..]);
        let found = found(&blocks(&lengths).finish(9999)).unwrap();
        assert_eq!((found.per_block_ns, found.interval_ns), (10.0, [10.0, 10.0]));
    }

    #[test]
    fn noise_is_no_growth() {
        let lengths = [900, 104, 101, 105, 102, 103, 106, 101, 104].map(|ns| [ns]);
        let lengths = lengths.each_ref().map(|ns| &ns[..]);
        assert_eq!(found(&blocks(&lengths).finish(9999)), None);
    }

    #[test]
    fn steps_that_a_cache_answered_do_not_count() {
        let lengths = [100, 110, 120, 130, 140].map(|ns| [ns, 10, 10]);
        let warm_up = [900];
        let lengths = std::iter::once(&warm_up[..]).chain(lengths.iter().map(|block| &block[..]));
        let mut builder = blocks(&lengths.collect::<Vec<_>>());
        for block in 1..6 {
            for step in 1..3 {
                builder = builder.cache_event(CacheEvent {
                    at_ns: 1,
                    cache: "teacache".into(),
                    outcome: CacheOutcome::Hit,
                    step: Some(step),
                    block: Some(block),
                    score: None,
                    threshold: None,
                    held_bytes: None,
                    attributes: vec![],
                    session: None,
                });
            }
        }
        assert_eq!(found(&builder.finish(9999)).unwrap().per_block_ns, 10.0);
    }

    #[test]
    fn four_steady_blocks_are_too_few() {
        // All six pairs rise in one of 24 orders: chance is no smaller.
        let run = blocks(&[&[900], &[100], &[110], &[120], &[130]]).finish(9999);
        assert_eq!(found(&run), None);
    }

    #[test]
    fn a_thousand_blocks_have_the_slope_that_they_have() {
        let lengths: Vec<[u64; 1]> = (0..1000).map(|n| [1000 + 3 * n]).collect();
        let lengths: Vec<&[u64]> = lengths.iter().map(<[u64; 1]>::as_slice).collect();
        let found = found(&blocks(&lengths).finish(u64::MAX)).unwrap();
        assert_eq!((found.n_blocks, found.per_block_ns), (999, 3.0));
        assert_eq!((found.first_ns, found.last_ns), (1003.0, 3997.0));
    }
}
