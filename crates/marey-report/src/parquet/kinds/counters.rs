//! One row a reading of a counter of the program, in order of time.

use marey::{CounterReading, Run};

use super::whereabouts::{at_ns, at_unix_ns};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct Counters;

type Row<'a> = At<'a, CounterReading>;

impl Listed for Counters {
    type Item = CounterReading;

    fn list(run: &Run) -> &[CounterReading] {
        &run.counters
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            at_unix_ns(|row: &Row<'_>| row.process.unix_ns(row.it.at_ns)),
            at_ns(|row: &Row<'_>| Some(row.it.at_ns)),
            Column::text("name", "the counter", |row: &Row<'_>| {
                Some(row.it.name.as_str())
            }),
            Column::real("value", "its value", |row: &Row<'_>| Some(row.it.value)),
        ]
    }
}
