//! One row what an outer section used, in order of its start. Deeper sections, and those beyond the budget of readings, have none.

use marey::{Run, SectionResources as Measured, Spent};

use super::whereabouts::{node, path, thread};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct SectionResources;

type Row<'a> = At<'a, Measured>;

impl Listed for SectionResources {
    type Item = Measured;

    fn list(run: &Run) -> &[Measured] {
        &run.section_resources
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
            Column::number(
                "process_cpu_ns",
                "processor time of the process meanwhile",
                |row: &Row<'_>| Some(row.it.used.process.cpu_ns),
            )
            .in_unit("ns"),
            Column::number(
                "process_read_bytes",
                "fetched from storage by the process meanwhile",
                |row: &Row<'_>| row.it.used.process.read_bytes,
            )
            .in_unit("B")
            .null("the kernel does not count it"),
            Column::number(
                "process_written_bytes",
                "made to be written to storage by the process meanwhile",
                |row: &Row<'_>| row.it.used.process.written_bytes,
            )
            .in_unit("B")
            .null("the kernel does not count it"),
            Column::number(
                "thread_cpu_ns",
                "processor time of its own thread",
                |row: &Row<'_>| of_thread(row, |spent| Some(spent.cpu_ns)),
            )
            .in_unit("ns")
            .null("it ran in a task"),
            Column::number(
                "thread_read_bytes",
                "fetched from storage by its own thread",
                |row: &Row<'_>| of_thread(row, |spent| spent.read_bytes),
            )
            .in_unit("B")
            .null("it ran in a task, or the kernel does not count it"),
            Column::number(
                "thread_written_bytes",
                "made to be written to storage by its own thread",
                |row: &Row<'_>| of_thread(row, |spent| spent.written_bytes),
            )
            .in_unit("B")
            .null("it ran in a task, or the kernel does not count it"),
            Column::number(
                "resident_before_bytes",
                "resident memory of the process when it was entered",
                |row: &Row<'_>| row.it.used.resident_before,
            )
            .in_unit("B")
            .null("it was not read"),
            Column::number(
                "resident_after_bytes",
                "resident memory of the process when it was left",
                |row: &Row<'_>| row.it.used.resident_after,
            )
            .in_unit("B")
            .null("it was not read"),
        ]
    }
}

fn of_thread(row: &Row<'_>, of: fn(Spent) -> Option<u64>) -> Option<u64> {
    of(row.it.used.thread?)
}
