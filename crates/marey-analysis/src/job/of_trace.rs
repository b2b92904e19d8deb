//! From a trace of torch.profiler to a summary.

use super::collective_name::is_synchronising;
use super::kept_calls::keep_bounded;
use super::turn_cells::Communication;
use super::{CollectiveSums, DeviceSums, GpuSums, Range, RankSummary, Source, rank_in_name};
use crate::import::chrome::{Quality, Trace, run_of};
use crate::intervals::{Interval, union, union_length_ns};
use crate::quantity::bytes;
use crate::questions::trace::{CollectiveTimes, TraceContext, collective_times, utilization};
use crate::stats::ratio;

impl RankSummary {
    /// What a trace comes to, read from a file of this name, which tells the rank where the trace does not. Of a file with several
    /// documents the first one's process and communication stand. GPUs: how busy they were from their first to their last work.
    /// What could not be read of the file is in `warnings`.
    pub fn of_trace(trace: &Trace, file: &str) -> Self {
        let run = run_of(trace);
        let context = TraceContext::new(trace, None);
        let times = collective_times(&context, 0);
        // Whichever thread they are on: the step that lies around them waits for them.
        let on_host = times.iter().filter(|of| !of.is_device);
        let on_host = union(on_host.flat_map(|of| of.calls.iter().copied()).collect());
        // A trace does not say whether a call failed.
        let on_host = (!on_host.is_empty())
            .then(|| Communication { any: on_host.clone(), succeeded: on_host });
        let mut summary = Self::of_run_with(&run, file, on_host.as_ref());
        summary.source = Source::Trace;
        summary.marey = None;
        summary.warnings = warnings(&trace.quality);
        summary.is_truncated = is_truncated(&trace.quality);
        summary.process.rank = summary.process.rank.or_else(|| rank_in_name(file));
        if !times.is_empty() {
            summary.collectives = times.into_iter().map(sums).collect();
            summary.n_collectives_left_out = keep_bounded(&mut summary.collectives);
        }
        summary.machine.gpus = gpus(&context);
        summary.device = device(&context, run.wall_ns);
        summary
    }
}

fn is_truncated(quality: &Quality) -> bool {
    quality.is_truncated || quality.damage.is_some()
}

/// What is missing of a trace that was cut or damaged; empty when all of it was read.
fn warnings(quality: &Quality) -> Vec<String> {
    let (n_events, n_bytes) = (quality.n_events, quality.n_bytes);
    let damage = quality.damage.as_ref();
    let damage = damage.map(|what| format!("the compressed data is damaged: {what}"));
    let cut = is_truncated(quality).then(|| {
        format!(
            "the trace ends within its events, at byte {n_bytes} of its JSON (events read: {n_events}): it was cut, or its writer was killed, and what came later is missing"
        )
    });
    let broken = (quality.n_broken > 0).then(|| {
        format!(
            "{} of its stretches, {} together, could not be read and were passed over",
            quality.n_broken,
            bytes(quality.n_bytes_broken)
        )
    });
    [cut, damage, broken].into_iter().flatten().collect()
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

/// `None` unless there is one GPU: several have no common time to give out.
fn device(context: &TraceContext<'_>, wall_ns: u64) -> Option<DeviceSums> {
    let [timeline] = context.timelines.as_slice() else {
        return None;
    };
    let working_ns = union_length_ns([&timeline.compute[..], &timeline.memory].concat());
    let busy_ns = union_length_ns(timeline.busy.clone());
    Some(DeviceSums {
        working_ns,
        communication_ns: busy_ns.saturating_sub(working_ns),
        idle_ns: wall_ns.checked_sub(busy_ns)?,
    })
}

fn sums(of: CollectiveTimes) -> CollectiveSums {
    let count = of.calls.len() as u64;
    let lengths = of.calls.iter().map(Interval::length_ns);
    let total_ns = lengths.fold(0, u64::saturating_add);
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
        calls: of.calls,
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
        assert_eq!(each, [(0, 20_000, Some(14_000)), (30_000, 40_000, Some(3_000))]);
        // The calls themselves are whole.
        let calls = |name: &str| {
            let mut all = found.collectives.iter();
            all.find(|of| of.name == name).map(|of| (of.count, of.total_ns))
        };
        assert_eq!(calls("all_reduce"), Some((2, 25_000)));
        assert_eq!(calls("broadcast"), Some((1, 7_000)));
        assert_eq!(found.process.rank, Some(3));
    }

    #[test]
    fn what_a_gpu_did_adds_up_to_the_time_of_the_trace() {
        // µs          0    10   20   30        50   60   70       100
        // host        |-----------------------------------------------|
        // gemm             |---------|
        // all_reduce            |--------------|
        // copy                                      |----|
        // so          | 10 | working | only 20 | 10 | 10 |    30  |
        let work = |category: &str, name: &str, start: u64, end: u64, stream: u32| {
            format!(
                r#"{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": 0, "tid": {stream}, "ts": {start}, "dur": {}, "args": {{"device": 0, "stream": {stream}}}}}"#,
                end - start
            )
        };
        let found = of(&[
            range(1, "step", 0, 100),
            work("kernel", "gemm", 10, 30, 7),
            work("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 50, 8),
            work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 60, 70, 7),
        ]);
        let expected = DeviceSums { working_ns: 30_000, communication_ns: 20_000, idle_ns: 50_000 };
        assert_eq!((found.device, found.wall_ns), (Some(expected), 100_000));
        assert_eq!(of(&[range(1, "step", 0, 100)]).device, None);
    }

    #[test]
    fn a_trace_that_was_cut_or_has_holes_says_what_is_missing_and_keeps_the_rest() {
        let summary = |json: &str| {
            let trace = read(json.as_bytes(), Limits::default()).unwrap();
            RankSummary::of_trace(&trace, "rank3.json")
        };
        let two_from = |us| [range(1, "a", us, us + 10), range(1, "a", us + 10, us + 20)].join(",");
        let (two, two_more) = (two_from(0), two_from(20));
        let whole = format!(r#"{{"traceEvents": [{two}]}}"#);
        assert!(summary(&whole).warnings.is_empty());
        // Within the second of two events.
        let cut_at = whole.len() - 10;
        let found = summary(&whole[..cut_at]);
        assert_eq!(
            found.warnings[0],
            format!(
                "the trace ends within its events, at byte {cut_at} of its JSON (events read: 1): it was cut, or its writer was killed, and what came later is missing"
            )
        );
        assert_eq!(found.sections[0].count, 1);
        // Five bytes that are no event, with the comma and the space behind them.
        let holed = format!(r#"{{"traceEvents": [{two}, !!!!!, {two_more}]}}"#);
        let found = summary(&holed);
        assert_eq!(
            found.warnings,
            ["1 of its stretches, 7 B together, could not be read and were passed over"]
        );
        assert_eq!(found.sections[0].count, 4);
    }

    #[test]
    fn a_packed_trace_that_was_cut_says_so() {
        let ranges: Vec<String> = (0..2000).map(|n| range(1, "a", 10 * n, 10 * n + 10)).collect();
        let json = format!(r#"{{"traceEvents": [{}]}}"#, ranges.join(","));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, json.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let trace = read(&packed[..packed.len() / 2], Limits::default()).unwrap();
        let found = RankSummary::of_trace(&trace, "rank3.json.gz");
        assert!(found.warnings[0].starts_with("the trace ends within its events"), "{found:?}");
        assert!(found.warnings[1].starts_with("the compressed data is damaged: "), "{found:?}");
        assert!((1..2000).contains(&found.sections[0].count));
    }

    #[test]
    fn a_step_without_collectives_in_a_trace_that_has_some_has_none() {
        let found = of(&[range(1, "denoising_step", 0, 10), range(2, "gloo:all_reduce", 10, 12)]);
        let cells = found.steps.unwrap().cells;
        assert_eq!(cells[0].communication_ns, Some(0));
        let without = of(&[range(1, "denoising_step", 0, 10)]);
        assert_eq!(without.steps.unwrap().cells[0].communication_ns, None);
    }
}
