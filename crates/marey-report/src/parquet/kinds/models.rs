//! One row a report of a model, in order of time.

use marey::{Generation, ModelParameters};

use crate::parquet::column::Column;
use crate::parquet::reported::{Report, Reported};

/// The table.
pub(crate) struct Models;

fn model<'r>(row: &'r Report<'_>) -> Option<&'r ModelParameters> {
    match row.what() {
        Generation::Model(model) => Some(model),
        _ => None,
    }
}

impl Reported for Models {
    fn has(report: &Generation) -> bool {
        matches!(report, Generation::Model(_))
    }

    fn columns<'a>() -> Vec<Column<Report<'a>>> {
        vec![
            Column::text("name", "its name", |row: &Report<'_>| {
                Some(model(row)?.name.as_str())
            }),
            Column::text(
                "kind",
                "what it is: transformer, vae",
                |row: &Report<'_>| model(row)?.kind.as_deref(),
            )
            .null("not said"),
            Column::number(
                "parameters",
                "number of its parameters",
                |row: &Report<'_>| model(row)?.count,
            )
            .in_unit("1")
            .null("not said"),
            Column::real(
                "flops_per_call",
                "floating point operations of one pass",
                |row: &Report<'_>| model(row)?.flops_per_call,
            )
            .in_unit("1")
            .null("not said"),
            Column::real(
                "calls_per_step",
                "passes of a denoising step",
                |row: &Report<'_>| model(row)?.calls_per_step,
            )
            .in_unit("1")
            .null("not said"),
        ]
    }
}
