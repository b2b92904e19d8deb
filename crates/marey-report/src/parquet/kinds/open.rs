//! One row a section that was open when the capture ended.

use marey::{OpenSection, Run};

use crate::parquet::column::{Column, columns};
use crate::parquet::listed::{At, Listed};

/// The table.
#[derive(Default)]
pub(crate) struct Open;

type Row<'a> = At<'a, OpenSection>;

impl Listed for Open {
    type Item = OpenSection;

    fn list(run: &Run) -> &[OpenSection] {
        &run.open
    }

    fn columns<'a>() -> Vec<Column<Row<'a>>> {
        columns! { row: Row<'_>;
            unix_ns("start_unix_ns", "when it was entered, on the wall clock, since 1970")
                => row.process.unix_ns(row.it.start_ns);
            ns("start_ns", "when it was entered, since the start of the process") => Some(row.it.start_ns);
            ns("so_far_ns", "from then to the end of the capture")
                => Some(row.it.end_ns(row.process.run.wall_ns) - row.it.start_ns);
            thread() null "the thread completed no section" => row.it.thread.map(u64::from);
            node() => Some(row.it.node.into());
            path() => Some(row.process.path(row.it.node)?.text.as_str());
            text("name", "its name") => row.process.name(row.it.node);
        }
    }
}
