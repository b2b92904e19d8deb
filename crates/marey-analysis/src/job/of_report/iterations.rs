//! Steps and blocks of a report.

use serde_json::Value;

use super::{at, number, whole};
use crate::intervals::Interval;
use crate::job::IterationSums;
use crate::job::iteration_cells::{Iteration, iteration_sums};

/// The steps, or blocks, under `kind` in one `analysis` of a report that began at `start_s` seconds since 1970: one by one where all are listed,
/// else their sums alone.
pub(super) fn iterations(
    report: &Value,
    (analysis, kind): (&str, &str),
    start_s: Option<f64>,
) -> Option<IterationSums> {
    let analysis = report.get(analysis)?;
    let listed = analysis.get(kind).and_then(Value::as_array);
    let listed = listed.map_or(&[][..], Vec::as_slice);
    let is_whole = whole(analysis, &format!("{kind}_left_out")).unwrap_or(0) == 0;
    let start_s = start_s.or_else(|| number(listed.first()?, "timestamp"));
    if is_whole && let Some(start_s) = start_s {
        let mut generation = None;
        let iteration = |(index, point): (usize, &Value)| {
            let of = whole(point, "generation");
            let is_first = index == 0 || of != generation;
            generation = of;
            let duration_ns =
                number(point, "computation_time_ms").map(|ms| crate::stats::whole(ms * 1e6))?;
            let since_s = number(point, "timestamp")? - start_s;
            let end_ns = crate::stats::whole(since_s * 1e9);
            let said = at(point, "warm_up").and_then(Value::as_bool);
            Some(Iteration {
                time: Interval { start_ns: end_ns.saturating_sub(duration_ns), end_ns },
                duration_ns,
                is_warm_up: said.unwrap_or(is_first),
            })
        };
        let found: Vec<Iteration> = listed.iter().enumerate().filter_map(iteration).collect();
        return iteration_sums(&found, None);
    }
    let count = whole(analysis, &format!("total_{kind}")).filter(|count| *count > 0)?;
    let of = |path: &str| number(analysis, path).map(|ms| crate::stats::whole(ms * 1e6));
    let total_ns = ["warm_up.total_ms", "steady.total_ms"].map(|path| of(path).unwrap_or(0));
    Some(IterationSums {
        count,
        n_warm_up: whole(analysis, "warm_up.count").unwrap_or(0),
        total_ns: total_ns[0].saturating_add(total_ns[1]),
        median_ns: of("steady.p50_ms"),
        per_cell: 1,
        cells: Vec::new(),
    })
}
