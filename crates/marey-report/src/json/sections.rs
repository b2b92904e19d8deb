//! The section tree as a flat list in which each entry names its parent.

use marey_analysis::{NotAvailable, SectionGpuTime, SectionRow, UnderNoSection};
use serde::Serialize;

use super::calls::calls;
use super::object::object;
use super::{float_seconds, seconds};
use crate::model::Report;
use crate::quantity::counted;

/// One call path.
pub(super) fn section<'a>(report: &Report, row: &'a SectionRow) -> impl Serialize + use<'a> {
    let gpu = report.gpu_times.as_ref().and_then(|gpu| gpu.of(row.node));
    object! {
        id: row.node,
        parent: row.parent,
        depth: row.depth,
        name: &row.name,
        kind: row.kind,
        is_detached: row.is_detached,
        inclusive: seconds(row.inclusive_ns),
        self: row.self_ns.map(seconds),
        share_of_wall: row.share_of_wall_ratio,
        ..calls(&row.calls),
        open: row.open.map(|open| object! {
            count: open.count,
            so_far: seconds(open.so_far_ns),
        }),
        gpu: gpu.map(gpu_time),
    }
}

/// What the GPU did for the calls of a path.
fn gpu_time(found: &SectionGpuTime) -> impl Serialize + use<> {
    let delay = found.delay.as_ref();
    object! {
        calls_measured: found.gpu.count,
        calls_not_measured: found.n_not_measured,
        total: seconds(found.gpu.total_ns),
        mean: float_seconds(found.gpu.mean_ns),
        median: seconds(found.gpu.p50_ns),
        p95: seconds(found.gpu.p95_ns),
        max: seconds(found.gpu.max_ns),
        covered: found.covered_ns.map(seconds),
        share_of_wall: found.share_of_wall_ratio,
        queue_delay_mean: delay.map(|delay| float_seconds(delay.mean_ns)),
        queue_delay_max: delay.map(|delay| seconds(delay.max_ns)),
        queue_delay_error: found.delay_error_ns.map(seconds),
    }
}

/// Wall time that nothing covers.
pub(super) fn under_no_section(report: &Report) -> impl Serialize + use<> {
    let (known, not_available) = match report.sections.under_no_section {
        UnderNoSection::Known(ns) => (Some(seconds(ns)), None),
        UnderNoSection::Unknown(why) => (None, Some(reason(why))),
    };
    object! {
        seconds: known,
        share_of_wall: report.under_no_section_ratio,
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
