//! One row what an outer section used, in order of its start. Deeper sections, and those beyond the budget of readings, have none.

use marey::{Run, SectionResources as Measured, Spent};

use crate::parquet::column::{Column, columns};
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
        columns! { row: Row<'_>;
            ns("start_ns", "when the section was entered, since the start of the process") => Some(row.it.start_ns);
            thread() => Some(row.it.thread.into());
            node() => Some(row.it.node.into());
            path() => Some(row.process.path(row.it.node)?.text.as_str());
            text("name", "its name") => row.process.name(row.it.node);
            ns("process_cpu_ns", "processor time of the process meanwhile") => Some(row.it.used.process.cpu_ns);
            bytes("process_read_bytes", "fetched from storage by the process meanwhile")
                null "the kernel does not count it"
                => row.it.used.process.read_bytes;
            bytes("process_written_bytes", "made to be written to storage by the process meanwhile")
                null "the kernel does not count it"
                => row.it.used.process.written_bytes;
            ns("thread_cpu_ns", "processor time of its own thread") null "it ran in a task"
                => of_thread(row, |spent| Some(spent.cpu_ns));
            bytes("thread_read_bytes", "fetched from storage by its own thread")
                null "it ran in a task, or the kernel does not count it"
                => of_thread(row, |spent| spent.read_bytes);
            bytes("thread_written_bytes", "made to be written to storage by its own thread")
                null "it ran in a task, or the kernel does not count it"
                => of_thread(row, |spent| spent.written_bytes);
            bytes("resident_before_bytes", "resident memory of the process when it was entered")
                null "it was not read"
                => row.it.used.resident_before;
            bytes("resident_after_bytes", "resident memory of the process when it was left") null "it was not read"
                => row.it.used.resident_after;
        }
    }
}

fn of_thread(row: &Row<'_>, of: fn(Spent) -> Option<u64>) -> Option<u64> {
    of(row.it.used.thread?)
}
