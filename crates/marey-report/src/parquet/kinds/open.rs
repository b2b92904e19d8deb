//! One row a section that was open when the capture ended.

use marey::{OpenSection, Run};

use super::whereabouts::{node, on_the_wall_clock, path, thread};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct Open;

type Row<'a> = At<'a, OpenSection>;

impl Listed for Open {
    type Item = OpenSection;

    fn list(run: &Run) -> &[OpenSection] {
        &run.open
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            on_the_wall_clock(
                "start_unix_ns",
                "when it was entered, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.it.start_ns),
            ),
            Column::number(
                "start_ns",
                "when it was entered, since the start of the process",
                |row: &Row<'_>| Some(row.it.start_ns),
            )
            .in_unit("ns"),
            Column::number(
                "so_far_ns",
                "from then to the end of the capture",
                |row: &Row<'_>| Some(row.it.end_ns(row.process.run.wall_ns) - row.it.start_ns),
            )
            .in_unit("ns"),
            thread(|row: &Row<'_>| row.it.thread.map(u64::from))
                .null("the thread completed no section"),
            node(|row: &Row<'_>| Some(u64::from(row.it.node))),
            path(|row: &Row<'_>| Some(row.process.path(row.it.node)?.text.as_str())),
            Column::text("name", "its name", |row: &Row<'_>| {
                row.process.name(row.it.node)
            }),
        ]
    }
}
