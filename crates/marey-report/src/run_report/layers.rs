//! Layers that the program measured.

use crate::document::{Cell, Table};
use crate::model::Report;

/// Each layer, those with most time first.
pub(super) fn table(report: &Report) -> Table {
    let layers = report.activity.layers.iter();
    let table = Table::of_each(
        "layers",
        "Layers",
        layers.flat_map(|layers| &layers.each),
        &[
            ("name", "Layer", &|l| Cell::name(&l.name)),
            ("count", "Calls", &|l| Cell::Count(l.n_calls)),
            ("total_ns", "Total", &|l| Cell::duration((l.n_timed > 0).then_some(l.total_ns))),
            ("mean_ns", "Mean", &|l| Cell::mean(l.mean_ns)),
            ("min_ns", "Min", &|l| Cell::duration(l.min_ns)),
            ("max_ns", "Max", &|l| Cell::duration(l.max_ns)),
            ("share_ratio", "Share", &|l| Cell::ratio(l.share_ratio)),
            ("n_parameters", "Parameters", &|l| Cell::known(l.parameters, Cell::Parameters)),
        ],
    );
    table.noted("Share: of the time of all reported layers.")
}
