//! The steps of the ranks, in microseconds.

use marey_analysis::ranks::{HeatMap, IterationSpread, IterationsOverRanks, OverRanks};

use super::{Drawing, US};

/// Of figures in microseconds by rank.
pub(super) fn over(each: &[u32]) -> OverRanks {
    let mut sorted = each.to_vec();
    sorted.sort_unstable();
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    let middle = [sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]];
    let median = f64::midpoint(middle[0].into(), middle[1].into());
    let n_ranks = each.iter().map(|_| 1).sum::<u32>();
    let slowest = (0..).zip(each).find(|(_, us)| **us == max);
    OverRanks {
        n_ranks: n_ranks.into(),
        min_ns: u64::from(min) * US,
        median_ns: median * 1e3,
        mean_ns: each.iter().map(|us| f64::from(*us)).sum::<f64>() / f64::from(n_ranks) * 1e3,
        max_ns: u64::from(max) * US,
        slowest: slowest.map_or(0, |(place, _)| place),
        spread_ns: u64::from(max - min) * US,
        spread_ratio: (min > 0).then(|| f64::from(max - min) / median),
    }
}

/// Microseconds of a step that a rank works.
pub(super) fn own_us(drawing: &Drawing, rank: u32) -> u32 {
    if drawing.slow == Some(rank) { 98_000 } else { 78_000 }
}

fn step_us(rank: u32, step: u32) -> u32 {
    match (rank, step) {
        (_, 0) => 500_000,
        (2, 7) => 160_000,
        // Ranks beyond the eight are not that even.
        (8.., _) => 100_000 + (rank * 7_919 + step * 104_729) % 1_000,
        _ => 100_000,
    }
}

/// Without the `all_reduce` at the end.
fn own_step_us(drawing: &Drawing, rank: u32, step: u32) -> u32 {
    step_us(rank, step) - (100_000 - own_us(drawing, rank))
}

pub(super) fn iterations(drawing: &Drawing) -> IterationsOverRanks {
    let ranks = || 0..drawing.n_ranks;
    let durations = |step| -> Vec<u32> { ranks().map(|rank| step_us(rank, step)).collect() };
    let own = |step| -> Vec<u32> {
        let each = ranks().map(|rank| own_step_us(drawing, rank, step));
        each.collect()
    };
    let spread = |step: u32| IterationSpread {
        first: step.into(),
        is_warm_up: step == 0,
        durations: over(&durations(step)),
        own: (drawing.n_ranks > 1).then(|| over(&own(step))),
    };
    let talks = drawing.n_ranks > 1;
    let steps = || 0..drawing.n_steps;
    let ns = |us: u32| Some(u64::from(us) * US);
    let own_ns = |rank| steps().map(move |step| ns(own_step_us(drawing, rank, step)));
    let cells = ranks().flat_map(|rank| steps().map(move |step| ns(step_us(rank, step))));
    IterationsOverRanks {
        out_of_step: Vec::new(),
        count: u64::from(drawing.n_ranks) * u64::from(drawing.n_steps),
        counts_differ: None,
        per_cell: 1,
        medians: Some(over(&durations(1))),
        each: (0..drawing.n_steps).map(spread).collect(),
        heat_map: HeatMap {
            places: ranks().collect(),
            n_cells: drawing.n_steps,
            durations_ns: cells.collect(),
            own_ns: ranks().filter(|_| talks).flat_map(own_ns).collect(),
        },
    }
}
