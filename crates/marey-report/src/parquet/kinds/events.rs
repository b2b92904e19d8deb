//! One row an event, in order of time.

use marey::{Event, Run};

use super::json;
use crate::parquet::column::{Column, columns};
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
        columns! { row: Row<'_>;
            at_unix_ns() => row.process.unix_ns(row.it.at_ns);
            at_ns() => Some(row.it.at_ns);
            text("name", "its name") => Some(row.it.name.as_str());
            thread() => Some(row.it.thread.into());
            recorded_for() => row.process.session_name(row.it.session);
            made("data", "what it was given, a JSON object") null "nothing was" => json(&row.it.attributes);
        }
    }
}
