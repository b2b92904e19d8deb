//! Tables of what the program reported of its own work: a report a row, in the order of the list.

use std::marker::PhantomData;

use marey::{Generation, GenerationRecord};

use super::column::{Column, columns};
use super::process::Process;
use super::table::Table;

/// Which reports a table has, and its columns.
pub(super) trait Reported: Send {
    /// A row is made of this report.
    fn has(report: &Generation) -> bool;

    /// Columns, without those that every such table has.
    fn columns<'a>() -> Vec<Column<Report<'a>>>;
}

/// A report, with the process.
pub(super) struct Report<'a> {
    process: &'a Process,
    record: &'a GenerationRecord,
}

impl Report<'_> {
    pub(super) fn what(&self) -> &Generation {
        &self.record.what
    }
}

/// The table of one kind of reports.
pub(super) struct Reports<R> {
    /// Places in `Run::generation`.
    places: Vec<usize>,
    of: PhantomData<R>,
}

impl<R: Reported> Table for Reports<R> {
    type Row<'a> = Report<'a>;

    fn columns<'a>() -> Vec<Column<Report<'a>>> {
        let mut columns = columns! { row: Report<'_>;
            at_unix_ns() => row.process.unix_ns(row.record.at_ns);
            at_ns() => Some(row.record.at_ns);
        };
        columns.extend(R::columns());
        columns.extend(columns! { row: Report<'_>;
            thread() => Some(row.record.thread.into());
            recorded_for() => row.process.session_name(row.record.session);
        });
        columns
    }

    fn new(process: &Process) -> Self {
        let all = process.run.generation.iter().enumerate();
        let its = all.filter(|(_, record)| R::has(&record.what));
        Self { places: its.map(|(place, _)| place).collect(), of: PhantomData }
    }

    fn len(&self, _: &Process) -> usize {
        self.places.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Report<'a>> {
        let record = process.run.generation.get(*self.places.get(place)?)?;
        Some(Report { process, record })
    }
}
