//! How does the time of a step grow with the length of the context?
//!
//! ```text
//! ms   |                        ·          each point: the median computed step of a block
//!      |              ·    ·               the line: median of the slopes of all pairs of blocks (Theil-Sen),
//!      |         ·                         which a few odd blocks do not move
//!      |  (·)
//!      +---0----1----2----3----4- block    the block of the warm-up is left out
//! ```

use serde::Serialize;

use super::blocks::BlockPoint;
use super::steps::StepPoint;
use crate::stats::{float, median};

/// A straight line through step times over the context that they had.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ContextGrowth {
    /// Blocks that it is made of.
    pub n_blocks: u64,
    /// Median computed step of the first steady block of the longest generation.
    pub first_ns: f64,
    /// Median computed step of its last block.
    pub last_ns: f64,
    /// Growth of a step with each block more of context (median of the slopes of all pairs of blocks of a generation). Negative when steps
    /// became shorter.
    pub per_block_ns: f64,
}

/// Blocks of a generation that a line goes through at most; of more every so many.
const MAX_BLOCKS: usize = 400;
/// Fewer than this say nothing of a line.
const MIN_BLOCKS: usize = 3;

/// A block: its number in the generation, and its median step.
#[derive(Clone, Copy)]
struct Point {
    number: u64,
    median_ns: f64,
}

/// `blocks_of` says in which block each step is. `None` unless a generation has three blocks with steps whose duration is known.
pub(super) fn growth(
    steps: &[StepPoint],
    blocks: &[BlockPoint],
    blocks_of: &[Option<usize>],
) -> Option<ContextGrowth> {
    let generations = points_by_generation(steps, blocks, blocks_of);
    let long_enough = |points: &&Vec<Point>| points.len() >= MIN_BLOCKS;
    let used = || generations.iter().filter(long_enough);
    // Of generations of equal length the first.
    let longest = used().rev().max_by_key(|points| points.len())?;
    let mut slopes: Vec<f64> = used().flat_map(|points| slopes(points)).collect();
    slopes.sort_unstable_by(f64::total_cmp);
    let (lower, upper) = ((slopes.len().checked_sub(1)?) / 2, slopes.len() / 2);
    Some(ContextGrowth {
        n_blocks: used().map(|points| points.len() as u64).sum(),
        first_ns: longest.first()?.median_ns,
        last_ns: longest.last()?.median_ns,
        per_block_ns: f64::midpoint(slopes[lower], slopes[upper]),
    })
}

fn points_by_generation(
    steps: &[StepPoint],
    blocks: &[BlockPoint],
    blocks_of: &[Option<usize>],
) -> Vec<Vec<Point>> {
    let mut durations: Vec<Vec<u64>> = vec![Vec::new(); blocks.len()];
    let mut has_warm_up = vec![false; blocks.len()];
    for (step, block) in steps.iter().zip(blocks_of) {
        let Some(block) = block.filter(|block| *block < blocks.len()) else {
            continue;
        };
        has_warm_up[block] |= step.is_warm_up;
        if step.is_cached != Some(true) {
            durations[block].extend(step.duration_ns);
        }
    }
    let generations = blocks.iter().map(|block| block.generation).max();
    let n_generations = generations.map_or(0, |last| last.saturating_add(1));
    let mut found = vec![
        Vec::new();
        usize::try_from(n_generations)
            .unwrap_or(0)
            .min(blocks.len())
    ];
    for (index, (block, mut of_block)) in blocks.iter().zip(durations).enumerate() {
        of_block.sort_unstable();
        let generation = usize::try_from(block.generation).unwrap_or(usize::MAX);
        let points = found.get_mut(generation).filter(|_| !has_warm_up[index]);
        if let Some((points, median_ns)) = points.zip(median(&of_block)) {
            points.push(Point {
                number: block.index,
                median_ns,
            });
        }
    }
    found
}

fn slopes(points: &[Point]) -> Vec<f64> {
    let every = points.len().div_ceil(MAX_BLOCKS).max(1);
    let points: Vec<Point> = points.iter().copied().step_by(every).collect();
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
    use marey::{
        BlockComputation, CacheEvent, CacheOutcome, DiffusionStep, Generation, Run, RunBuilder,
    };

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
            let block = BlockComputation {
                index: Some(index),
                ..BlockComputation::default()
            };
            builder = builder.generation(at_ns, None, Generation::Block(block));
        }
        builder
    }

    #[test]
    fn a_step_that_grows_by_10_with_each_block_grows_by_10_a_block() {
        let run = blocks(&[&[900, 100], &[110, 110], &[120, 120], &[130, 130]]).finish(9999);
        let found = found(&run).unwrap();
        assert_eq!((found.n_blocks, found.per_block_ns), (3, 10.0));
        assert_eq!((found.first_ns, found.last_ns), (110.0, 130.0));
    }

    #[test]
    fn one_odd_block_does_not_move_the_line() {
        // Of the ten pairs of blocks 1 to 5 four have the odd one: slopes of −560, −275, 295 and 580. The other six are 10.
        let run = blocks(&[&[900], &[110], &[120], &[700], &[140], &[150]]).finish(9999);
        assert_eq!(found(&run).unwrap().per_block_ns, 10.0);
    }

    #[test]
    fn steps_that_a_cache_answered_do_not_count() {
        let mut builder = blocks(&[&[900], &[100, 10, 10], &[110, 10, 10], &[120, 10, 10]]);
        for block in 1..4 {
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
    fn two_steady_blocks_are_no_line() {
        let run = blocks(&[&[900], &[100], &[110]]).finish(9999);
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
