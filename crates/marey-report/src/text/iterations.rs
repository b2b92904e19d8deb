//! The short block of a loop, in the shape of the documents.

use marey_analysis::Iterations;

use super::block;
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{float, known, rate, seconds};

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
