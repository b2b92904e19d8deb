//! From a trace of torch.profiler, or a dump of torch's flight recorder, to a summary.

use super::collectives::keep_bounded;
use super::iteration_cells::Communication;
use super::rank_name::number_at_end;
use super::{DeviceSums, GpuSums, Range, RankProcess, RankSummary, Source, rank_in_name};
use crate::import::chrome::{Quality, Trace, run_of};
use crate::import::flight_recorder::FlightDump;
use crate::intervals::{union, union_length_ns};
use crate::quantity::bytes;
use crate::questions::trace::{TraceContext, collective_sums, utilization};
use crate::stats::ratio;

impl RankSummary {
    /// What a trace comes to, read from a file of this name, which tells the rank where the trace does not. Of a file with several
    /// documents the first one's process and communication stand. GPUs: how busy they were from their first to their last work.
    /// What could not be read of the file is in `warnings`.
    pub fn of_trace(trace: &Trace, file: &str) -> Self {
        let run = run_of(trace);
        let context = TraceContext::new(trace, None);
        let collectives = collective_sums(&context, 0);
        // Whichever thread they are on: the step that lies around them waits for them.
        let on_host = collectives.iter().filter(|of| !of.is_device);
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
        if !collectives.is_empty() {
            summary.collectives = collectives;
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

/// Groups of all ranks, by what they are for or by name.
const ALL_RANKS: [&str; 2] = ["default_pg", "0"];

impl RankSummary {
    /// What a dump comes to, read from a file of this name, which ends in the rank: `nccl_trace_rank_node-7_3`. It says neither when the
    /// process began nor how long it ran.
    pub fn of_dump(dump: FlightDump, file: &str) -> Self {
        let of_all = ALL_RANKS.iter().find_map(|wanted| {
            let mut groups = dump.groups.iter();
            groups.find(|group| [&*group.purpose, &*group.name].contains(wanted))
        });
        let n_ranks = of_all.and_then(|group| u32::try_from(group.members.len()).ok());
        let unusable = (dump.n_unusable > 0)
            .then(|| format!("{} of the calls could not be read", dump.n_unusable));
        Self {
            process: RankProcess {
                rank: dump.rank.or_else(|| number_at_end(file)).or_else(|| rank_in_name(file)),
                world_size: n_ranks.filter(|n| *n > 0),
                ..RankProcess::default()
            },
            source: Source::FlightRecorder,
            file: file.to_owned(),
            warnings: unusable.into_iter().collect(),
            dump: Some(dump),
            ..Self::default()
        }
    }
}
