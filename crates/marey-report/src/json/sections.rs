//! The section tree as a flat list in which each entry names its parent.

use marey_analysis::{Kind, NotAvailable, SectionGpuTime, SectionRow, UnderNoSection};
use serde::Serialize;

use super::calls::CallsObject;
use super::seconds;
use crate::model::Report;
use crate::quantity::counted;

/// One call path.
#[derive(Serialize)]
pub(super) struct SectionObject<'a> {
    id: u32,
    parent: Option<u32>,
    depth: u32,
    name: &'a str,
    kind: Kind,
    is_detached: bool,
    inclusive: f64,
    #[serde(rename = "self")]
    own: Option<f64>,
    share_of_wall: Option<f64>,
    #[serde(flatten)]
    calls: CallsObject,
    open: Option<OpenObject>,
    gpu: Option<GpuObject>,
}

/// What the GPU did for the calls of a path.
#[derive(Serialize)]
struct GpuObject {
    calls_measured: u64,
    calls_not_measured: u64,
    total: f64,
    mean: f64,
    median: f64,
    p95: f64,
    max: f64,
    covered: Option<f64>,
    share_of_wall: Option<f64>,
    queue_delay_mean: Option<f64>,
    queue_delay_max: Option<f64>,
    queue_delay_error: Option<f64>,
}

#[derive(Serialize)]
struct OpenObject {
    count: u64,
    so_far: f64,
}

/// Wall time that nothing covers.
#[derive(Serialize)]
pub(super) struct UnderNoSectionObject {
    seconds: Option<f64>,
    share_of_wall: Option<f64>,
    not_available: Option<String>,
}

impl<'a> SectionObject<'a> {
    pub(super) fn new(report: &Report, row: &'a SectionRow) -> Self {
        let gpu = report.gpu_times.as_ref().and_then(|gpu| gpu.of(row.node));
        Self {
            id: row.node,
            parent: row.parent,
            depth: row.depth,
            name: &row.name,
            kind: row.kind,
            is_detached: row.is_detached,
            inclusive: seconds(row.inclusive_ns),
            own: row.self_ns.map(seconds),
            share_of_wall: row.share_of_wall_ratio,
            calls: CallsObject::new(&row.calls),
            open: row.open.map(|open| OpenObject {
                count: open.count,
                so_far: seconds(open.so_far_ns),
            }),
            gpu: gpu.map(GpuObject::new),
        }
    }
}

impl GpuObject {
    fn new(found: &SectionGpuTime) -> Self {
        let delay = found.delay.as_ref();
        Self {
            calls_measured: found.gpu.count,
            calls_not_measured: found.n_not_measured,
            total: seconds(found.gpu.total_ns),
            mean: found.gpu.mean_ns / 1e9,
            median: seconds(found.gpu.p50_ns),
            p95: seconds(found.gpu.p95_ns),
            max: seconds(found.gpu.max_ns),
            covered: found.covered_ns.map(seconds),
            share_of_wall: found.share_of_wall_ratio,
            queue_delay_mean: delay.map(|delay| delay.mean_ns / 1e9),
            queue_delay_max: delay.map(|delay| seconds(delay.max_ns)),
            queue_delay_error: found.delay_error_ns.map(seconds),
        }
    }
}

impl UnderNoSectionObject {
    pub(super) fn new(report: &Report) -> Self {
        let (known, not_available) = match report.sections.under_no_section {
            UnderNoSection::Known(ns) => (Some(seconds(ns)), None),
            UnderNoSection::Unknown(why) => (None, Some(reason(why))),
        };
        Self {
            seconds: known,
            share_of_wall: report.under_no_section_ratio,
            not_available,
        }
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
