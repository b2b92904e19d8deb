//! One row an allocation or a release that the program reported, in order of time.

use marey::{Allocation, Generation};

use crate::parquet::column::{Column, columns};
use crate::parquet::reported::{Report, Reported};

/// The table.
pub(crate) struct Allocations;

fn allocation<'r>(row: &'r Report<'_>) -> Option<&'r Allocation> {
    match row.what() {
        Generation::Allocation(allocation) => Some(allocation),
        _ => None,
    }
}

impl Reported for Allocations {
    fn has(report: &Generation) -> bool {
        matches!(report, Generation::Allocation(_))
    }

    fn columns<'a>() -> Vec<Column<Report<'a>>> {
        columns! { row: Report<'_>;
            flag("is_release", "it is a release") => Some(allocation(row)?.is_release);
            bytes("bytes", "its size") => Some(allocation(row)?.bytes);
            text("allocator", "who made it") null "not said" => allocation(row)?.allocator.as_deref();
            text("context", "what for") null "not said" => allocation(row)?.context.as_deref();
        }
    }
}
