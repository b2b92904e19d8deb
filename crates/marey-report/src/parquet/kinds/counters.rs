//! One row a reading of a counter of the program, in order of time.

use marey::CounterReading;

use super::At;
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table.
pub(crate) struct Counters;

type Row<'a> = At<'a, CounterReading>;

impl Table for Counters {
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
            Column::text("name", "the counter", |row: &Row<'_>| {
                Some(row.it.name.as_str())
            }),
            Column::real("value", "its value", |row: &Row<'_>| Some(row.it.value)),
        ]
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        process.run.counters.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        At::of(process, &process.run.counters, place)
    }
}
