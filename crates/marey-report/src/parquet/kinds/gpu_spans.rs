//! One row the work of a section on one stream of a GPU, in order of the section's start.

use marey::{GpuSpan, Run};

use super::whereabouts::{node, path};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct GpuSpans;

type Row<'a> = At<'a, GpuSpan>;

impl Listed for GpuSpans {
    type Item = GpuSpan;

    fn list(run: &Run) -> &[GpuSpan] {
        &run.gpu_spans
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::number(
                "start_ns",
                "when the section was entered, since the start of the process",
                |row: &Row<'_>| Some(row.it.start_ns),
            )
            .in_unit("ns"),
            Column::number(
                "thread",
                "the section's thread, by number in the process",
                |row: &Row<'_>| Some(u64::from(row.it.thread)),
            ),
            node(|row: &Row<'_>| Some(u64::from(row.it.node))),
            path(|row: &Row<'_>| Some(row.process.path(row.it.node)?.text.as_str())),
            Column::text("name", "the section's name", |row: &Row<'_>| {
                row.process.name(row.it.node)
            }),
            Column::number("device", "number of the device", |row: &Row<'_>| {
                Some(u64::from(row.it.device))
            }),
            Column::number(
                "stream",
                "the stream, as torch numbers it; 0 is the default stream",
                |row: &Row<'_>| Some(row.it.stream),
            ),
            Column::number(
                "gpu_ns",
                "from the first to the second event on the stream: work and waiting",
                |row: &Row<'_>| Some(row.it.gpu_ns),
            )
            .in_unit("ns"),
            Column::number(
                "delay_ns",
                "from the section's start to the beginning of its work on the GPU",
                |row: &Row<'_>| row.it.delay_ns,
            )
            .in_unit("ns")
            .null("clocks could not be compared"),
            Column::number(
                "error_ns",
                "by how much the delay may be wrong",
                |row: &Row<'_>| row.it.error_ns,
            )
            .in_unit("ns")
            .null("there is no delay"),
        ]
    }
}
