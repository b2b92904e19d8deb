//! One row a report of a model, in order of time.

use marey::{Generation, ModelParameters};

use crate::parquet::column::{Column, columns};
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
        columns! { row: Report<'_>;
            text("name", "its name") => Some(model(row)?.name.as_str());
            text("kind", "what it is: transformer, vae") null "not said" => model(row)?.kind.as_deref();
            count("parameters", "number of its parameters") null "not said" => model(row)?.count;
            real("flops_per_call", "floating point operations of one pass") in "1" null "not said"
                => model(row)?.flops_per_call;
            real("calls_per_step", "passes of a denoising step") in "1" null "not said" => model(row)?.calls_per_step;
        }
    }
}
