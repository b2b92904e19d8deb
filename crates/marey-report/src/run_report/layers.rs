//! Layers that the program measured.

use crate::document::{Cell, Table};
use crate::model::Report;

/// Each layer, those with most time first.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("name", "Layer"),
        ("count", "Calls"),
        ("total_ns", "Total"),
        ("mean_ns", "Mean"),
        ("min_ns", "Min"),
        ("max_ns", "Max"),
        ("share_ratio", "Share"),
        ("n_parameters", "Parameters"),
    ];
    let mut table = Table::new("layers", "Layers", &columns);
    for layer in report
        .activity
        .layers
        .iter()
        .flat_map(|layers| &layers.each)
    {
        let total = (layer.n_timed > 0).then_some(layer.total_ns);
        table.row(vec![
            Cell::name(&layer.name),
            Cell::Count(layer.n_calls),
            Cell::known(total, Cell::Duration),
            Cell::known(layer.mean_ns, Cell::Mean),
            Cell::known(layer.min_ns, Cell::Duration),
            Cell::known(layer.max_ns, Cell::Duration),
            Cell::known(layer.share_ratio, Cell::Ratio),
            Cell::known(layer.parameters, Cell::Parameters),
        ]);
    }
    let note = "Share: of the time of all reported layers.";
    table.notes.push(note.into());
    table
}
