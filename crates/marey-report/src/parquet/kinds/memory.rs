//! One row a memory reading, in order of time.

use marey::{MemoryReading, MemorySource};

use super::At;
use crate::parquet::column::Column;
use crate::parquet::process::Process;
use crate::parquet::rows::Table;

/// The table.
pub(crate) struct Memory;

type Row<'a> = At<'a, MemoryReading>;

impl Table for Memory {
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
            Column::text("label", "the user's label", |row: &Row<'_>| {
                row.it.label.as_deref()
            })
            .null("the recorder took it by itself"),
            Column::text(
                "source",
                "process: resident memory; torch_cuda: torch's allocator on a device",
                |row: &Row<'_>| {
                    Some(match row.it.source {
                        MemorySource::Process => "process",
                        MemorySource::TorchCuda(_) => "torch_cuda",
                    })
                },
            ),
            Column::number(
                "device",
                "number of the device",
                |row: &Row<'_>| match row.it.source {
                    MemorySource::Process => None,
                    MemorySource::TorchCuda(device) => Some(u64::from(device)),
                },
            )
            .null("of the process"),
            Column::number(
                "allocated_bytes",
                "in use: resident, or in tensors",
                |row: &Row<'_>| Some(row.it.allocated_bytes),
            )
            .in_unit("B"),
            Column::number(
                "reserved_bytes",
                "what the allocator holds",
                |row: &Row<'_>| row.it.reserved_bytes,
            )
            .in_unit("B")
            .null("of the process"),
            Column::number(
                "peak_bytes",
                "most in use so far, as the source counts it",
                |row: &Row<'_>| row.it.peak_bytes,
            )
            .in_unit("B")
            .null("not read"),
            Column::text(
                "session",
                "name of the session that it was recorded for",
                |row: &Row<'_>| row.process.session_name(row.it.session),
            )
            .null("it was recorded for none"),
        ]
    }

    fn new(_: &Process) -> Self {
        Self
    }

    fn len(&self, process: &Process) -> usize {
        process.run.memory.len()
    }

    fn row<'a>(&'a self, process: &'a Process, place: usize) -> Option<Row<'a>> {
        At::of(process, &process.run.memory, place)
    }
}
