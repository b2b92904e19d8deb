//! Steps and blocks of a report.

use serde_json::Value;

use super::{at, number, whole};
use crate::intervals::Interval;
use crate::job::TurnSums;
use crate::job::turn_cells::{Turn, turn_sums};

/// Where turns of a kind are.
pub(super) struct Keys {
    analysis: &'static str,
    each: &'static str,
    left_out: &'static str,
    count: &'static str,
}

/// Denoising steps.
pub(super) const STEPS: Keys = Keys {
    analysis: "diffusion_analysis",
    each: "steps",
    left_out: "steps_left_out",
    count: "total_steps",
};

/// Blocks.
pub(super) const BLOCKS: Keys = Keys {
    analysis: "block_analysis",
    each: "blocks",
    left_out: "blocks_left_out",
    count: "total_blocks",
};

/// Turns of a report that began at `start_s` seconds since 1970: one by one where all are listed, else their sums alone.
pub(super) fn turns(report: &Value, keys: &Keys, start_s: Option<f64>) -> Option<TurnSums> {
    let analysis = report.get(keys.analysis)?;
    let listed = analysis.get(keys.each).and_then(Value::as_array);
    let listed = listed.map_or(&[][..], Vec::as_slice);
    let is_whole = whole(analysis, keys.left_out).unwrap_or(0) == 0;
    let start_s = start_s.or_else(|| number(listed.first()?, "timestamp"));
    if is_whole && let Some(start_s) = start_s {
        let mut generation = None;
        let turn = |(index, point): (usize, &Value)| {
            let of = whole(point, "generation");
            let is_first = index == 0 || of != generation;
            generation = of;
            let duration_ns =
                number(point, "computation_time_ms").map(|ms| crate::stats::whole(ms * 1e6))?;
            let since_s = number(point, "timestamp")? - start_s;
            let end_ns = crate::stats::whole(since_s * 1e9);
            let said = at(point, "warm_up").and_then(Value::as_bool);
            Some(Turn {
                time: Interval { start_ns: end_ns.saturating_sub(duration_ns), end_ns },
                duration_ns,
                is_warm_up: said.unwrap_or(is_first),
            })
        };
        let found: Vec<Turn> = listed.iter().enumerate().filter_map(turn).collect();
        return turn_sums(&found, None);
    }
    let count = whole(analysis, keys.count).filter(|count| *count > 0)?;
    let of = |path: &str| number(analysis, path).map(|ms| crate::stats::whole(ms * 1e6));
    let total_ns = ["warm_up.total_ms", "steady.total_ms"].map(|path| of(path).unwrap_or(0));
    Some(TurnSums {
        count,
        n_warm_up: whole(analysis, "warm_up.count").unwrap_or(0),
        total_ns: total_ns[0].saturating_add(total_ns[1]),
        median_ns: of("steady.p50_ms"),
        per_cell: 1,
        cells: Vec::new(),
    })
}
