//! How long does one iteration of each loop take, and is it steady?

use marey::{NodeKind, Run};

use crate::calls::CallStats;
use crate::intervals::Interval;
use crate::questions::names::{calls, nodes_by_name};
use crate::records::Records;
use crate::stats::rate;

/// All iterations of the loops of one name, wherever they ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Iterations {
    /// The loop's name as the user gave it; not safe to print.
    pub name: String,
    /// Completed iterations; `errors` are those that failed, `first_ns` the warm-up, `rest_mean_ns` the steady state.
    pub calls: CallStats,
    /// Iterations per second of time spent in them; `None` when that is 0.
    pub per_second: Option<f64>,
    /// Iterations that were recorded one by one, ascending by start; fewer than `calls.count` when records were dropped.
    pub series: Vec<Interval>,
}

/// Figures of each loop that completed at least one iteration, in the order in which the loops were first entered as far as
/// that is known (by node).
pub fn iterations(run: &Run) -> Vec<Iterations> {
    let records = Records::new(run, |node| run.nodes[node].kind == NodeKind::Iteration);
    let by_name = nodes_by_name(run, NodeKind::Iteration);
    let mut loops: Vec<(&str, Vec<usize>)> = by_name.into_iter().collect();
    loops.sort_by_key(|(_, nodes)| nodes.first().copied());
    let each = loops.into_iter().map(|(name, nodes)| {
        let calls = calls(run, &records, &nodes);
        let mut series = records.of_all(&nodes);
        series.sort_unstable();
        let per_second = rate(calls.count, calls.total_ns);
        Iterations { name: name.to_owned(), per_second, calls, series }
    });
    each.filter(|answer| answer.calls.count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    #[test]
    fn loops_of_one_name_under_different_parents_are_one_loop() {
        // 0         10        20        30
        // |---block 0---|---block 1---|
        //   |step |step |step |step |
        let run = RunBuilder::new()
            .section("block 0", 0, 14, |s| {
                s.iteration("step", 2, 8, |_| {});
                s.iteration("step", 8, 13, |_| {});
            })
            .section("block 1", 14, 28, |s| {
                s.iteration("step", 14, 19, |_| {});
                s.iteration("step", 19, 23, |_| {});
            })
            .finish(30);
        let answers = iterations(&run);
        assert_eq!(answers.len(), 1);
        let step = &answers[0];
        assert_eq!((step.calls.count, step.calls.total_ns), (4, 20));
        assert_eq!((step.calls.min_ns, step.calls.max_ns), (Some(4), Some(6)));
        assert_eq!(step.calls.median_ns, Some(5.0));
        assert_eq!(step.calls.first_ns, Some(6));
        assert_eq!(step.calls.rest_mean_ns, Some(14.0 / 3.0));
        assert_eq!(step.per_second, Some(4.0 / 20e-9));
        assert_eq!(step.series.len(), 4);
        let percentiles = step.calls.percentiles.unwrap();
        assert_eq!((percentiles.p50_ns, percentiles.p95_ns), (5, 6));
    }

    #[test]
    fn iterations_that_took_no_time_have_no_rate() {
        let run = RunBuilder::new().iteration("step", 5, 5, |_| {}).finish(10);
        let answers = iterations(&run);
        assert_eq!(answers[0].per_second, None);
        assert_eq!(answers[0].calls.mean_ns, Some(0.0));
        assert_eq!(answers[0].calls.std_dev_ns, None);
    }

    #[test]
    fn dropped_records_leave_exact_totals_and_a_histogram() {
        // Ten steps of 1000 ns, of which three are recorded one by one.
        let mut builder = RunBuilder::new();
        for turn in 0..10u64 {
            builder = builder.iteration("step", turn * 1000, (turn + 1) * 1000, |_| {});
        }
        let mut run = builder.finish(10_000);
        run.sections.truncate(3);
        run.losses.sections_ring_full = 7;
        let step = iterations(&run).remove(0);
        assert_eq!((step.calls.count, step.calls.total_ns), (10, 10_000));
        assert_eq!(step.calls.first_ns, Some(1000));
        assert_eq!(step.calls.std_dev_ns, None);
        let percentiles = step.calls.percentiles.unwrap();
        assert!(!percentiles.is_exact);
        assert_eq!(percentiles.p99_ns, 1000);
        assert_eq!(step.series.len(), 3);
    }

    #[test]
    fn failed_iterations_are_counted() {
        let mut run = RunBuilder::new().iteration("step", 0, 5, |_| {}).finish(10);
        run.totals[1].errors = 1;
        assert_eq!(iterations(&run)[0].calls.errors, 1);
    }
}
