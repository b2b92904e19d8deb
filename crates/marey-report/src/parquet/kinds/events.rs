//! One row an event, in order of time.

use marey::{Event, Run};

use super::json;
use super::whereabouts::{at_ns, at_unix_ns, recorded_for, thread};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct Events;

type Row<'a> = At<'a, Event>;

impl Listed for Events {
    type Item = Event;

    fn list(run: &Run) -> &[Event] {
        &run.events
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            at_unix_ns(|row: &Row<'_>| row.process.unix_ns(row.it.at_ns)),
            at_ns(|row: &Row<'_>| Some(row.it.at_ns)),
            Column::text("name", "its name", |row: &Row<'_>| {
                Some(row.it.name.as_str())
            }),
            thread(|row: &Row<'_>| Some(u64::from(row.it.thread))),
            recorded_for(|row: &Row<'_>| row.process.session_name(row.it.session)),
            Column::made(
                "data",
                "what it was given, a JSON object",
                |row: &Row<'_>| json(&row.it.attributes),
            )
            .null("nothing was"),
        ]
    }
}
