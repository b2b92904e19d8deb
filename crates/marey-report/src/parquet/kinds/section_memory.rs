//! One row what a section did to torch's memory on one device, in order of the section's start. Most sections have none.

use marey::{Run, SectionMemory as Measured};

use super::whereabouts::{node, path, thread};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct SectionMemory;

type Row<'a> = At<'a, Measured>;

impl Listed for SectionMemory {
    type Item = Measured;

    fn list(run: &Run) -> &[Measured] {
        &run.section_memory
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::number(
                "start_ns",
                "when the section was entered, since the start of the process",
                |row: &Row<'_>| Some(row.it.start_ns),
            )
            .in_unit("ns"),
            thread(|row: &Row<'_>| Some(u64::from(row.it.thread))),
            node(|row: &Row<'_>| Some(u64::from(row.it.node))),
            path(|row: &Row<'_>| Some(row.process.path(row.it.node)?.text.as_str())),
            Column::text("name", "its name", |row: &Row<'_>| {
                row.process.name(row.it.node)
            }),
            Column::number("device", "number of the device", |row: &Row<'_>| {
                Some(u64::from(row.it.figures.device))
            }),
            Column::number(
                "allocated_before_bytes",
                "in tensors when it was entered",
                |row: &Row<'_>| Some(row.it.figures.allocated_before),
            )
            .in_unit("B"),
            Column::number(
                "allocated_peak_bytes",
                "most in tensors meanwhile",
                |row: &Row<'_>| Some(row.it.figures.allocated_peak),
            )
            .in_unit("B"),
            Column::number(
                "allocated_after_bytes",
                "in tensors when it was left",
                |row: &Row<'_>| Some(row.it.figures.allocated_after),
            )
            .in_unit("B"),
            Column::number(
                "reserved_before_bytes",
                "held by the allocator when it was entered",
                |row: &Row<'_>| Some(row.it.figures.reserved_before),
            )
            .in_unit("B"),
            Column::number(
                "reserved_peak_bytes",
                "most held meanwhile",
                |row: &Row<'_>| Some(row.it.figures.reserved_peak),
            )
            .in_unit("B"),
            Column::number(
                "reserved_after_bytes",
                "held when it was left",
                |row: &Row<'_>| Some(row.it.figures.reserved_after),
            )
            .in_unit("B"),
        ]
    }
}
