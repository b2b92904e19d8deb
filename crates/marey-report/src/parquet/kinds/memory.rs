//! One row a memory reading, in order of time.

use marey::{MemoryReading, MemorySource, Run};

use super::whereabouts::{at_ns, at_unix_ns, recorded_for};
use crate::parquet::column::Column;
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct Memory;

type Row<'a> = At<'a, MemoryReading>;

impl Listed for Memory {
    type Item = MemoryReading;

    fn list(run: &Run) -> &[MemoryReading] {
        &run.memory
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        vec![
            at_unix_ns(|row: &Row<'_>| row.process.unix_ns(row.it.at_ns)),
            at_ns(|row: &Row<'_>| Some(row.it.at_ns)),
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
            recorded_for(|row: &Row<'_>| row.process.session_name(row.it.session)),
        ]
    }
}
