//! Loops: the short block of one, and how steady all of them were.

use marey_analysis::Iterations;

use super::block;
use super::columns::{Columns, Last};
use super::sections::{Precision, approximate};
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{duration, duration_ns, float, known, rate, seconds};

const WIDTH: usize = 80;
const NAME_WIDTH: usize = 48;

/// The short block of the loop with this name; `None` when it completed no turn.
pub fn iteration_summary(report: &Report, name: &str) -> Option<String> {
    let mut loops = report.iterations.iter();
    loops.find(|found| found.name == name).map(block_of)
}

pub(super) fn block_of(found: &Iterations) -> String {
    let calls = &found.calls;
    let rate = found.per_second.map(|n| format!(" ({})", rate(n)));
    let mean = known(calls.mean_ns, seconds) + &rate.unwrap_or_default();
    let exact = |ns: Option<u64>| known(ns, |ns| seconds(float(ns)));
    let lines = [
        format!("Total iterations: {}", calls.count),
        format!("Total time:       {}", seconds(float(calls.total_ns))),
        format!("Mean time/iter:   {mean}"),
        format!("Min time:         {}", exact(calls.min_ns)),
        format!("Max time:         {}", exact(calls.max_ns)),
        format!("Median time:      {}", known(calls.median_ns, seconds)),
    ];
    let title = format!("ITERATION PROFILING: {}", cut(&found.name, NAME_WIDTH));
    block::titled(&title, &lines, WIDTH)
}

/// Percentiles, deviation and warm-up of every loop; `None` when there was none.
pub(super) fn steadiness(report: &Report) -> Option<String> {
    if report.iterations.is_empty() {
        return None;
    }
    let headers = [
        "Iterations",
        "Count",
        "Failed",
        "First",
        "Mean of rest",
        "Median",
        "p95",
        "p99",
        "Max",
        "Std dev",
        "Rate",
    ];
    let mut table = Columns::new(&headers, Last::Figure);
    let mut precision = Precision::default();
    for found in &report.iterations {
        let calls = &found.calls;
        let percentiles = calls.percentiles;
        precision.note(percentiles);
        let is_exact = percentiles.is_none_or(|p| p.is_exact);
        table.row(vec![
            cut(&found.name, NAME_WIDTH),
            calls.count.to_string(),
            calls.errors.to_string(),
            known(calls.first_ns, duration_ns),
            known(calls.rest_mean_ns, duration),
            known(calls.median_ns, |ns| approximate(is_exact, &duration(ns))),
            known(percentiles, |p| {
                approximate(is_exact, &duration_ns(p.p95_ns))
            }),
            known(percentiles, |p| {
                approximate(is_exact, &duration_ns(p.p99_ns))
            }),
            known(calls.max_ns, duration_ns),
            known(calls.std_dev_ns, duration),
            known(found.per_second, rate),
        ]);
    }
    Some(table.block("ITERATIONS - Warm-up and Steady State", &precision.notes()))
}
