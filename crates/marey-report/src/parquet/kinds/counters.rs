//! One row a reading of a counter of the program, in order of time.

use marey::{CounterReading, Run};

use crate::parquet::column::{Column, columns};
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
        columns! { row: Row<'_>;
            at_unix_ns() => row.process.unix_ns(row.it.at_ns);
            at_ns() => Some(row.it.at_ns);
            text("name", "the counter") => Some(row.it.name.as_str());
            real("value", "its value") => Some(row.it.value);
        }
    }
}
