//! One row what a section did to torch's memory on one device, in order of the section's start. Most sections have none.

use marey::{Run, SectionMemory as Measured};

use crate::parquet::column::{Column, columns};
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct SectionMemory;

type Row<'a> = At<'a, Measured>;

impl Listed for SectionMemory {
    type Item = Measured;

    fn list(run: &Run) -> &[Measured] {
        &run.section_memory
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            ns("start_ns", "when the section was entered, since the start of the process") => Some(row.it.start_ns);
            thread() => Some(row.it.thread.into());
            node() => Some(row.it.node.into());
            path() => Some(row.process.path(row.it.node)?.text.as_str());
            text("name", "its name") => row.process.name(row.it.node);
            number("device", "number of the device") => Some(row.it.figures.device.into());
            bytes("allocated_before_bytes", "in tensors when it was entered") => Some(row.it.figures.allocated_before);
            bytes("allocated_peak_bytes", "most in tensors meanwhile")
                null "torch's own peak did not rise meanwhile, or was reset"
                => known(row.it.figures.allocated_peak, row.it.figures.allocated_peak_error);
            bytes("allocated_after_bytes", "in tensors when it was left") => Some(row.it.figures.allocated_after);
            bytes("reserved_before_bytes", "held by the allocator when it was entered")
                => Some(row.it.figures.reserved_before);
            bytes("reserved_peak_bytes", "most held meanwhile") null "as above"
                => known(row.it.figures.reserved_peak, row.it.figures.reserved_peak_error);
            bytes("reserved_after_bytes", "held when it was left") => Some(row.it.figures.reserved_after);
        }
    }
}

/// A peak that may have been more is none.
fn known(peak: u64, error: u64) -> Option<u64> {
    (error == 0).then_some(peak)
}
