//! One row a layer of a model that the program measured, in order of time.

use marey::{Generation, LayerComputation};

use crate::parquet::column::{Column, columns};
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
        columns! { row: Report<'_>;
            text("name", "its name") => Some(layer(row)?.name.as_str());
            ns("duration_ns", "how long it took") null "not known" => layer(row)?.computation_ns;
            count("parameters", "number of its parameters") null "not said" => layer(row)?.parameters;
        }
    }
}
