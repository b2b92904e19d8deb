//! Sections: each call path, shares of the wall time by name, and what calls used.

use marey_analysis::{
    GpuTimes, NotAvailable, SectionGpuTime, SectionPeak, SectionRow, Stages, UnderNoSection, Used,
    UsedResources,
};

use super::calls::calls;
use super::figures::PERCENT;
use super::object::{Json, object};
use super::{float_seconds, list, mebibytes, pairs, seconds};
use crate::model::Report;
use crate::quantity::counted;

/// One call path.
pub(super) fn section<'a>(report: &Report, row: &'a SectionRow) -> impl Json + use<'a> {
    let gpu = report.gpu_times.as_ref().and_then(|gpu| gpu.of(row.node));
    object! {
        struct Section;
        /// Number of the call path.
        id: row.node,
        /// id of the entry that this one is under; null at the top level.
        parent: row.parent,
        /// 0 at the top level.
        depth: row.depth,
        /// As the user gave it.
        name: &row.name,
        /// A named span, or iterations of a loop.
        kind: row.kind,
        /// It ran beside its parent: not part of the parent's time.
        is_detached: row.is_detached,
        /// All calls, open ones up to the end of the run, seconds.
        inclusive: seconds(row.inclusive_ns),
        /// inclusive without what is under it, seconds; null where it is not known because what is under it took longer than it (it
        /// outlived it, or ran in several threads at once).
        self: row.self_ns.map(seconds),
        /// Share of the wall time during which at least one call was open; null when records are missing and calls may have overlapped.
        share_of_wall: row.share_of_wall_ratio,
        ..calls(&row.calls),
        open: row.open.map(|open| object! {
            /// Calls that had not ended.
            count: open.count,
            /// Their time up to the end of the run, seconds.
            so_far: seconds(open.so_far_ns),
        }),
        /// GPU time of its calls; null when none was measured.
        gpu: gpu.map(gpu_time),
    }
}

/// What the GPU did for the calls of a path.
fn gpu_time(found: &SectionGpuTime) -> impl Json + use<> {
    let delay = found.delay.as_ref();
    object! {
        struct SectionGpu;
        /// Calls with a GPU time.
        calls_measured: found.gpu.count,
        /// Completed calls without one.
        calls_not_measured: found.n_not_measured,
        /// Sum over the calls, from the first to the second event of each, seconds. Times of nested sections overlap.
        total: seconds(found.gpu.total_ns),
        /// Mean, seconds.
        mean: float_seconds(found.gpu.mean_ns),
        /// Half took no longer, seconds (nearest rank).
        median: seconds(found.gpu.p50_ns),
        /// 95 % took no longer, seconds (nearest rank).
        p95: seconds(found.gpu.p95_ns),
        /// Longest, seconds.
        max: seconds(found.gpu.max_ns),
        /// Time that they cover, each moment once, seconds; null unless it is known where all of them lie.
        covered: found.covered_ns.map(seconds),
        /// covered as a share of the wall time; null when it is not known.
        share_of_wall: found.share_of_wall_ratio,
        /// From the beginning of a call to that of its work on the GPU, seconds, mean; null when it is not known.
        queue_delay_mean: delay.map(|delay| float_seconds(delay.mean_ns)),
        /// The same, longest.
        queue_delay_max: delay.map(|delay| seconds(delay.max_ns)),
        /// By how much a delay may be too short, at most, seconds.
        queue_delay_error: found.delay_error_ns.map(seconds),
    }
}

/// Wall time that nothing covers.
pub(super) fn under_no_section(report: &Report) -> impl Json + use<> {
    let (known, not_available) = match report.sections.under_no_section {
        UnderNoSection::Known(ns) => (Some(seconds(ns)), None),
        UnderNoSection::Unknown(why) => (None, Some(reason(why))),
    };
    object! {
        /// Wall time that no section and no iteration covers, over all threads.
        seconds: known,
        /// The same as a share of the wall time.
        share_of_wall: report.under_no_section_ratio,
        /// Why seconds is null.
        not_available: not_available,
    }
}

/// Why a figure is not available.
pub(crate) fn reason(why: NotAvailable) -> String {
    match why {
        NotAvailable::NotRecordedOneByOne(n) => {
            counted(n, "section was", "sections were") + " not recorded one by one"
        }
        NotAvailable::NotRecorded(n) => {
            counted(n, "section was", "sections were") + " not recorded at all"
        }
    }
}

/// `stage_analysis`.
pub(super) fn stage_analysis(found: &Stages) -> impl Json {
    let slowest = found.bottlenecks.iter().filter_map(|index| found.each.get(*index));
    let slowest = slowest.map(|stage| {
        object! {
            /// Its name.
            stage: &stage.name,
            /// under_no_other_stage as a share of the wall time, at most the stage's share.
            percentage: stage.under_no_other_stage_ratio.map(|share| share * PERCENT),
            /// Seconds.
            total_time: seconds(stage.calls.total_ns),
            /// Seconds.
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
        }
    });
    object! {
        /// Sections by name as shares of the wall time, by the union of their intervals; iterations are no stages.
        struct StageAnalysis;
        /// Distinct names.
        total_stages: found.each.len(),
        /// Wall time, seconds: what percentages are of.
        total_time: seconds(found.wall_ns),
        /// Wall time under any section, seconds; null when it is not known.
        covered_time: found.covered_ns.map(seconds),
        /// By name, longest total first.
        stages: pairs(&found.each, |stage| (stage.name.as_str(), object! {
            /// Sum of the calls, seconds.
            total_time: seconds(stage.calls.total_ns),
            /// Completed calls.
            call_count: stage.calls.count,
            /// Seconds.
            avg_time: stage.calls.mean_ns.map(float_seconds),
            /// Seconds.
            min_time: stage.calls.min_ns.map(seconds),
            /// Seconds.
            max_time: stage.calls.max_ns.map(seconds),
            /// Time under no other stage, seconds: loops within it are no stages, and their time is in it (self of sections is without
            /// them); null where it is not known.
            under_no_other_stage: stage.under_no_other_stage_ns.map(seconds),
            /// Share of the wall time during which at least one was open; null when it is not known.
            percentage_of_total: stage.share_ratio.map(|share| share * PERCENT),
        })),
        /// Largest first.
        bottlenecks: slowest.collect::<Vec<_>>(),
    }
}

/// How they were measured; the times themselves are in `sections`.
pub(super) fn gpu_times(found: &GpuTimes) -> impl Json {
    object! {
        struct GpuTime;
        /// How: CUDA events, HIP events; null when the capture does not say.
        measured_by: &found.measured_by,
        /// Calls of the call paths that have GPU times.
        calls: found.n_calls,
        /// Those of them without one.
        calls_not_measured: found.n_not_measured,
        /// What each stream did.
        streams: list(&found.streams, |stream| object! {
            /// Number of the GPU.
            device: stream.device,
            /// The stream, as torch numbers it; 0 is the default stream.
            stream: stream.stream,
            /// Calls that were measured on it.
            spans: stream.n_spans,
            /// Time that they cover, each moment once, seconds; null unless it is known where all of them lie.
            covered: stream.covered_ns.map(seconds),
        }),
    }
}

/// One call path on one device.
pub(super) fn section_peak(row: &SectionPeak) -> impl Json + use<> {
    object! {
        struct SectionMemory;
        /// id of the call path.
        section: row.node,
        /// Number of the GPU.
        device: row.device,
        /// Calls that were measured; all figures are of these.
        calls_measured: row.n_measured,
        /// Calls that were made.
        calls: row.n_calls,
        /// Most in tensors during one measured call, MiB.
        allocated_mb: mebibytes(row.allocated.bytes),
        /// A call may have had more: not all were measured, or torch's own peak, which counts from the program's last reset, did not rise.
        is_allocated_at_least: row.allocated.is_at_least,
        /// Most held by the allocator during one measured call, MiB.
        reserved_mb: mebibytes(row.reserved.bytes),
        /// The same of what was held.
        is_reserved_at_least: row.reserved.is_at_least,
        /// Most in tensors above what was at the beginning of the call, MiB.
        added_mb: mebibytes(row.added.bytes),
        /// The same of that.
        is_added_at_least: row.added.is_at_least,
        /// Largest difference of what was in tensors after and before a call; negative when all gave memory back.
        growth_bytes: row.growth_bytes,
        /// 1 - allocated_mb / reserved_mb: what the allocator held that no tensor used; null when nothing was held, or one of the two is not known.
        fragmentation: row.fragmentation_ratio,
        /// Most that was held after a call and too cut up to be given back, MiB; null where torch did not say.
        inactive_split_mb: row.inactive_split_bytes.map(mebibytes),
    }
}

/// What a call path used.
pub(super) fn resources(row: &UsedResources) -> impl Json + use<> {
    object! {
        struct SectionResources;
        /// id of the call path.
        section: row.node,
        /// Calls that were made.
        calls: row.n_calls,
        /// Calls that were read; all figures are sums over these, and nothing is estimated for the others.
        calls_measured: row.n_measured,
        /// Of the whole process while the calls were open; null where some were open at the same time, for what the process did then cannot
        /// be told apart. So are both growths.
        process: row.process.map(used),
        /// Of the threads of the calls; null when one of them ran in a task.
        thread: row.thread.map(used),
        /// Resident memory of the process after a call less before it, summed over calls; null where it was not read.
        growth_bytes: row.growth_bytes,
        /// The largest of these differences.
        largest_growth_bytes: row.largest_growth_bytes,
    }
}

pub(super) fn used(used: Used) -> impl Json {
    object! {
        struct UsedResources;
        /// Processor time in user code and in the kernel, seconds.
        cpu_s: seconds(used.cpu_ns),
        /// Fetched from storage; what the page cache had is not among them. null where the kernel does not count it.
        read_bytes: used.read_bytes,
        /// Made to be written to storage, now or later. null as above.
        written_bytes: used.written_bytes,
    }
}
