//! One row a layer of a model that the program measured, in order of time.

use marey::{Generation, LayerComputation};

use crate::parquet::column::Column;
use crate::parquet::reported::{Report, Reported};

/// The table.
pub(crate) struct Layers;

fn layer<'r>(row: &'r Report<'_>) -> Option<&'r LayerComputation> {
    match row.what() {
        Generation::Layer(layer) => Some(layer),
        _ => None,
    }
}

impl Reported for Layers {
    fn has(report: &Generation) -> bool {
        matches!(report, Generation::Layer(_))
    }

    fn columns<'a>() -> Vec<Column<Report<'a>>> {
        vec![
            Column::text("name", "its name", |row: &Report<'_>| {
                Some(layer(row)?.name.as_str())
            }),
            Column::number("duration_ns", "how long it took", |row: &Report<'_>| {
                layer(row)?.computation_ns
            })
            .in_unit("ns")
            .null("not known"),
            Column::number(
                "parameters",
                "number of its parameters",
                |row: &Report<'_>| layer(row)?.parameters,
            )
            .in_unit("1")
            .null("not said"),
        ]
    }
}
