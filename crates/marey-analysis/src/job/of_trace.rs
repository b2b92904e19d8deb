//! From a trace of torch.profiler to a summary.

use super::collective_name::is_synchronising;
use super::kept_calls::{at_most, keep_bounded};
use super::turn_cells::Communication;
use super::{CollectiveSums, GpuSums, Range, RankSummary, Source, rank_in_name};
use crate::import::chrome::{Trace, run_of};
use crate::intervals::{Interval, union};
use crate::questions::trace::{CollectiveTimes, TraceContext, collective_times, utilization};
use crate::stats::ratio;

impl RankSummary {
    /// What a trace comes to, read from a file of this name, which tells the rank where the trace does not. Of a file with several
    /// documents the first one's process and communication stand. GPUs: how busy they were from their first to their last work.
    pub fn of_trace(trace: &Trace, file: &str) -> Self {
        let run = run_of(trace);
        let context = TraceContext::new(trace, None);
        let times = collective_times(&context, 0);
        // Whichever thread they are on: the step that lies around them waits for them.
        let on_host = times.iter().filter(|of| !of.is_device);
        let on_host = union(on_host.flat_map(|of| of.calls.iter().copied()).collect());
        // A trace does not say whether a call failed.
        let on_host = (!on_host.is_empty()).then(|| Communication {
            any: on_host.clone(),
            succeeded: on_host,
        });
        let mut summary = Self::of_run_with(&run, file, on_host.as_ref());
        summary.source = Source::Trace;
        summary.marey = None;
        summary.process.rank = summary.process.rank.or_else(|| rank_in_name(file));
        if !times.is_empty() {
            summary.collectives = times.into_iter().map(sums).collect();
            summary.n_collectives_left_out = keep_bounded(&mut summary.collectives);
        }
        summary.machine.gpus = gpus(&context);
        summary
    }
}

fn gpus(context: &TraceContext<'_>) -> Vec<GpuSums> {
    let gpu = |timeline| {
        let busy = utilization(context.trace, timeline);
        let share = ratio(busy.busy_ns.into(), busy.span_ns.into());
        GpuSums {
            name: context.model_of(timeline),
            utilization_ratio: (busy.span_ns > 0).then_some(Range {
                min: share,
                mean: share,
                max: share,
            }),
            ..GpuSums::default()
        }
    };
    context.timelines.iter().map(gpu).collect()
}

fn sums(of: CollectiveTimes) -> CollectiveSums {
    let count = of.calls.len() as u64;
    let lengths = of.calls.iter().map(Interval::length_ns);
    let total_ns = lengths.fold(0, u64::saturating_add);
    let (stride, calls) = at_most(&of.calls);
    CollectiveSums {
        is_synchronising: is_synchronising(&of.name),
        group: of.group,
        group_size: of.group_size,
        name: of.name,
        is_device: of.is_device,
        count,
        total_ns,
        bytes: None,
        n_failed: 0,
        failed_ns: 0,
        stride,
        calls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::chrome::{Limits, read};

    /// A range of a thread, in microseconds.
    fn range(thread: u32, name: &str, start: u64, end: u64) -> String {
        let duration = end - start;
        format!(
            r#"{{"ph": "X", "cat": "user_annotation", "name": "{name}", "pid": 1, "tid": {thread}, "ts": {start}, "dur": {duration}}}"#
        )
    }

    fn of(ranges: &[String]) -> RankSummary {
        let json = format!(r#"{{"traceEvents": [{}]}}"#, ranges.join(","));
        let trace = read(json.as_bytes(), Limits::default()).unwrap();
        RankSummary::of_trace(&trace, "rank3.json")
    }

    #[test]
    fn collectives_of_other_threads_are_in_the_steps_around_them_each_moment_once() {
        // µs         100    105   110   115 117 118 120       130   133     140
        // thread 1   |------------ step 0 -----------|         |--- step 1 ---|
        // thread 2          |all_reduce |       |----- all_reduce -----|
        // thread 3                |broadcast|
        let found = of(&[
            range(1, "denoising_step", 100, 120),
            range(2, "gloo:all_reduce", 105, 115),
            range(3, "gloo:broadcast", 110, 117),
            range(2, "gloo:all_reduce", 118, 133),
            range(1, "denoising_step", 130, 140),
        ]);
        let steps = found.steps.unwrap();
        let each: Vec<_> = steps
            .cells
            .iter()
            .map(|cell| (cell.start_ns, cell.end_ns, cell.communication_ns))
            .collect();
        // 105 to 117 and 118 to 120; then 130 to 133.
        assert_eq!(
            each,
            [(0, 20_000, Some(14_000)), (30_000, 40_000, Some(3_000))]
        );
        // The calls themselves are whole.
        let calls = |name: &str| {
            let mut all = found.collectives.iter();
            all.find(|of| of.name == name)
                .map(|of| (of.count, of.total_ns))
        };
        assert_eq!(calls("all_reduce"), Some((2, 25_000)));
        assert_eq!(calls("broadcast"), Some((1, 7_000)));
        assert_eq!(found.process.rank, Some(3));
    }

    #[test]
    fn a_step_without_collectives_in_a_trace_that_has_some_has_none() {
        let found = of(&[
            range(1, "denoising_step", 0, 10),
            range(2, "gloo:all_reduce", 10, 12),
        ]);
        let cells = found.steps.unwrap().cells;
        assert_eq!(cells[0].communication_ns, Some(0));
        let without = of(&[range(1, "denoising_step", 0, 10)]);
        assert_eq!(without.steps.unwrap().cells[0].communication_ns, None);
    }
}
