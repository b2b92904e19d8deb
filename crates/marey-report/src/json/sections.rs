//! The section tree as a flat list in which each entry names its parent.

use marey_analysis::{NotAvailable, SectionGpuTime, SectionRow, UnderNoSection};

use super::calls::calls;
use super::object::{Json, object};
use super::{float_seconds, seconds};
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
        /// A named span, or turns of a loop.
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
