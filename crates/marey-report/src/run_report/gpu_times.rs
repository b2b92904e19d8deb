//! GPU time of sections.

use std::cmp::Reverse;

use marey_analysis::SectionGpuTime;

use super::path;
use crate::document::{Cell, Table};
use crate::model::Report;
use crate::quantity::counted;

/// Longest first, nested ones among them.
pub(super) fn table(report: &Report) -> Table {
    let found = report.gpu_times.as_ref();
    let mut rows: Vec<&SectionGpuTime> = found.iter().flat_map(|gpu| &gpu.sections).collect();
    rows.sort_by_key(|row| (Reverse(row.gpu.total_ns), row.node));
    let mut table = Table::of_each(
        "section_gpu_times",
        "GPU time of sections",
        rows,
        &[
            ("section", "Section", &|s| path(report, s.node)),
            ("count", "Count", &|s| Cell::Count(s.gpu.count)),
            ("total_ns", "GPU", &|s| Cell::Duration(s.gpu.total_ns)),
            ("mean_ns", "Mean", &|s| Cell::Mean(s.gpu.mean_ns)),
            ("p50_ns", "p50", &|s| Cell::Duration(s.gpu.p50_ns)),
            ("p95_ns", "p95", &|s| Cell::Duration(s.gpu.p95_ns)),
            ("max_ns", "Max", &|s| Cell::Duration(s.gpu.max_ns)),
            ("queue_delay_mean_ns", "Queue delay", &|s| {
                Cell::known(s.delay.as_ref(), |delay| Cell::Mean(delay.mean_ns))
            }),
        ],
    );
    table.notes.extend(found.map(|gpu| {
        let measured = gpu.n_calls.saturating_sub(gpu.n_not_measured);
        let how = gpu.measured_by.as_deref().unwrap_or("events on the stream");
        let calls = counted(gpu.n_calls, "call", "calls");
        format!("Measured by {how}, {measured} of {calls}; all other times are the host's.")
    }));
    table
        .noted("Queue delay: mean, from the beginning of a section to that of its work on the GPU.")
}
