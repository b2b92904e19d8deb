//! One row a section that was open when the capture ended.

use marey::OpenSection;

use super::At;
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table.
pub(crate) struct Open;

type Row<'a> = At<'a, OpenSection>;

impl Table for Open {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::number(
                "start_unix_ns",
                "when it was entered, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.it.start_ns),
            )
            .in_unit("ns")
            .null("the start of the process is not known"),
            Column::number(
                "start_ns",
                "when it was entered, since the start of the process",
                |row: &Row<'_>| Some(row.it.start_ns),
            )
            .in_unit("ns"),
            Column::number(
                "so_far_ns",
                "from then to the end of the capture",
                |row: &Row<'_>| Some(row.process.run.wall_ns.saturating_sub(row.it.start_ns)),
            )
            .in_unit("ns"),
            Column::number(
                "thread",
                "its thread, by number in the process",
                |row: &Row<'_>| row.it.thread.map(u64::from),
            )
            .null("the thread completed no section"),
            Column::number(
                "node",
                "its call path, by number in the process",
                |row: &Row<'_>| Some(u64::from(row.it.node)),
            ),
            Column::text(
                "path",
                "names from the outermost section to this one, as in `sections`",
                |row: &Row<'_>| Some(row.process.path(row.it.node)?.text.as_str()),
            ),
            Column::text("name", "its name", |row: &Row<'_>| {
                row.process.name(row.it.node)
            }),
        ]
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        process.run.open.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        At::of(process, &process.run.open, place)
    }
}
