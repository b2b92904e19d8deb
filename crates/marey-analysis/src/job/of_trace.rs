//! From a trace of torch.profiler to a summary.

use super::kept_calls::keep_bounded;
use super::turn_cells::Communication;
use super::{CollectiveSums, GpuSums, Range, RankSummary, Source, rank_in_name};
use crate::import::chrome::{Trace, run_of};
use crate::intervals::{Interval, union};
use crate::questions::trace::{
    CollectiveKind, CollectiveTimes, TraceContext, collective_times, utilization,
};
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
    let mut stride = 1;
    while of.calls.len().div_ceil(stride) > RankSummary::MAX_CALLS {
        stride *= 2;
    }
    let lengths = of.calls.iter().map(Interval::length_ns);
    CollectiveSums {
        is_synchronising: is_synchronising(&of.name),
        group: of.group,
        group_size: of.group_size,
        name: of.name,
        is_device: of.is_device,
        count: of.calls.len() as u64,
        total_ns: lengths.fold(0, u64::saturating_add),
        bytes: None,
        n_failed: 0,
        failed_ns: 0,
        stride: u32::try_from(stride).unwrap_or(u32::MAX),
        calls: of.calls.into_iter().step_by(stride).collect(),
    }
}

/// Nobody leaves it before everybody has come.
fn is_synchronising(name: &str) -> bool {
    let kind = CollectiveKind::of(name);
    let needs_all = matches!(
        kind,
        CollectiveKind::AllReduce
            | CollectiveKind::AllGather
            | CollectiveKind::ReduceScatter
            | CollectiveKind::AllToAll
    );
    needs_all || name == "barrier"
}
