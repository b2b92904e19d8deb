//! GPU time of sections.

use std::cmp::Reverse;

use marey_analysis::SectionGpuTime;

use super::calls::{SPREAD, spread};
use super::path;
use crate::document::{Cell, Table};
use crate::model::Report;
use crate::quantity::counted;

/// Longest first, nested ones among them.
pub(super) fn table(report: &Report) -> Table {
    let mut columns = vec![("section", "Section"), ("total_ns", "GPU")];
    columns.extend(SPREAD);
    columns.push(("queue_delay_mean_ns", "Queue delay"));
    let mut table = Table::new("section_gpu_times", "GPU time of sections", &columns);
    let Some(gpu) = &report.gpu_times else {
        return table;
    };
    let mut rows: Vec<&SectionGpuTime> = gpu.sections.iter().collect();
    rows.sort_by_key(|row| (Reverse(row.gpu.total_ns), row.node));
    for row in rows {
        let delay = row.delay.as_ref();
        let mut cells = vec![path(report, row.node), Cell::Duration(row.gpu.total_ns)];
        cells.extend(spread(&row.gpu));
        cells.push(Cell::known(delay, |delay| Cell::Mean(delay.mean_ns)));
        table.row(cells);
    }
    let measured = gpu.n_calls.saturating_sub(gpu.n_not_measured);
    let how = gpu.measured_by.as_deref().unwrap_or("events on the stream");
    let calls = counted(gpu.n_calls, "call", "calls");
    table.notes = vec![
        format!("Measured by {how}, {measured} of {calls}; all other times are the host's."),
        "Queue delay: mean, from the beginning of a section to that of its work on the GPU.".into(),
    ];
    table
}
