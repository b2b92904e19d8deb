//! One row an allocation or a release that the program reported, in order of time.

use marey::{Allocation, Generation};

use crate::parquet::column::Column;
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
        vec![
            Column::flag("is_release", "it is a release", |row: &Report<'_>| {
                Some(allocation(row)?.is_release)
            }),
            Column::number("bytes", "its size", |row: &Report<'_>| {
                Some(allocation(row)?.bytes)
            })
            .in_unit("B"),
            Column::text("allocator", "who made it", |row: &Report<'_>| {
                allocation(row)?.allocator.as_deref()
            })
            .null("not said"),
            Column::text("context", "what for", |row: &Report<'_>| {
                allocation(row)?.context.as_deref()
            })
            .null("not said"),
        ]
    }
}
