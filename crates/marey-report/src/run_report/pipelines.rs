//! Pipelines beside each other.

use crate::document::{Cell, Table};
use crate::model::Report;

/// Without rows unless there are several: what a single one did is what the run did.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("name", "Pipeline"),
        ("n_calls", "Calls"),
        ("n_not_done", "Not done"),
        ("total_ns", "Time"),
        ("n_parameters", "Parameters"),
        ("n_steps", "Steps"),
        ("first_ns", "First"),
        ("p50_ns", "p50"),
        ("per_second", "it/s"),
    ];
    let mut table = Table::new("pipelines", "Pipelines", &columns);
    let note = "First: its first denoising step. p50 and it/s are of its other steps.";
    table.notes.push(note.into());
    if report.pipelines.len() < 2 {
        return table;
    }
    for found in &report.pipelines {
        let count = found.models.as_ref().and_then(|models| models.parameters);
        let (first, others) = (found.warm_up.as_ref(), found.steady.as_ref());
        table.row(vec![
            Cell::name(&found.name),
            Cell::Count(found.n_calls),
            Cell::Count(found.n_failed + found.n_cut_off),
            Cell::Duration(found.calls_ns),
            Cell::known(count, Cell::Parameters),
            Cell::Count(found.n_steps),
            Cell::known(first, |first| Cell::Duration(first.max_ns)),
            Cell::known(others, |others| Cell::Duration(others.p50_ns)),
            Cell::known(found.steps_per_second, Cell::PerSecond),
        ]);
    }
    table
}
