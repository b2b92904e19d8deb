//! One row a memory reading, in order of time.

use marey::{MemoryReading, MemorySource, Run};

use crate::parquet::column::{Column, columns};
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
        columns! { row: Row<'_>;
            at_unix_ns() => row.process.unix_ns(row.it.at_ns);
            at_ns() => Some(row.it.at_ns);
            text("label", "the user's label") null "the recorder took it by itself" => row.it.label.as_deref();
            text("source", "process: resident memory; torch_cuda: torch's allocator on a device")
                => Some(match row.it.source {
                    MemorySource::Process => "process",
                    MemorySource::TorchCuda(_) => "torch_cuda",
                });
            number("device", "number of the device") null "of the process"
                => match row.it.source {
                    MemorySource::Process => None,
                    MemorySource::TorchCuda(device) => Some(device.into()),
                };
            bytes("allocated_bytes", "in use: resident, or in tensors") => Some(row.it.allocated_bytes);
            bytes("reserved_bytes", "what the allocator holds") null "of the process" => row.it.reserved_bytes;
            bytes("peak_bytes", "most in use so far, as the source counts it") null "not read" => row.it.peak_bytes;
            recorded_for() => row.process.session_name(row.it.session);
        }
    }
}
