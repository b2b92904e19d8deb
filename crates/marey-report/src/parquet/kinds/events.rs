//! One row an event, in order of time.

use marey::Event;

use super::{At, json};
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table.
pub(crate) struct Events;

type Row<'a> = At<'a, Event>;

impl Table for Events {
    type Row<'a> = Row<'a>;

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            Column::number(
                "at_unix_ns",
                "when, on the wall clock, since 1970",
                |row: &Row<'_>| row.process.unix_ns(row.it.at_ns),
            )
            .in_unit("ns")
            .null("the start of the process is not known"),
            Column::number(
                "at_ns",
                "when, since the start of the process",
                |row: &Row<'_>| Some(row.it.at_ns),
            )
            .in_unit("ns"),
            Column::text("name", "its name", |row: &Row<'_>| {
                Some(row.it.name.as_str())
            }),
            Column::number(
                "thread",
                "its thread, by number in the process",
                |row: &Row<'_>| Some(u64::from(row.it.thread)),
            ),
            Column::text(
                "session",
                "name of the session that it was recorded for",
                |row: &Row<'_>| row.process.session_name(row.it.session),
            )
            .null("it was recorded for none"),
            Column::made(
                "data",
                "what it was given, a JSON object",
                |row: &Row<'_>| json(&row.it.attributes),
            )
            .null("nothing was"),
        ]
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        process.run.events.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        At::of(process, &process.run.events, place)
    }
}
