//! One row the work of a section on one stream of a GPU, in order of the section's start.

use marey::{GpuSpan, Run};

use crate::parquet::column::{Column, columns};
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct GpuSpans;

type Row<'a> = At<'a, GpuSpan>;

impl Listed for GpuSpans {
    type Item = GpuSpan;

    fn list(run: &Run) -> &[GpuSpan] {
        &run.gpu_spans
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            ns("start_ns", "when the section was entered, since the start of the process") => Some(row.it.start_ns);
            number("thread", "the section's thread, by number in the process") => Some(row.it.thread.into());
            node() => Some(row.it.node.into());
            path() => Some(row.process.path(row.it.node)?.text.as_str());
            text("name", "the section's name") => row.process.name(row.it.node);
            number("device", "number of the device") => Some(row.it.device.into());
            number("stream", "the stream, as torch numbers it; 0 is the default stream") => Some(row.it.stream);
            ns("gpu_ns", "from the first to the second event on the stream: work and waiting") => Some(row.it.gpu_ns);
            ns("delay_ns", "from the section's start to the beginning of its work on the GPU")
                null "clocks could not be compared"
                => row.it.delay_ns;
            ns("error_ns", "by how much the delay may be wrong") null "there is no delay" => row.it.error_ns;
        }
    }
}
