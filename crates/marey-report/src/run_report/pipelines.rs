//! Pipelines beside each other.

use crate::document::{Cell, Table};
use crate::model::Report;

/// Without rows unless there are several: what a single one did is what the run did.
pub(super) fn table(report: &Report) -> Table {
    let are_several = report.pipelines.len() > 1;
    let table = Table::of_each(
        "pipelines",
        "Pipelines",
        report.pipelines.iter().filter(|_| are_several),
        &[
            ("name", "Pipeline", &|p| Cell::name(&p.name)),
            ("n_calls", "Calls", &|p| Cell::Count(p.n_calls)),
            ("n_not_done", "Not done", &|p| Cell::Count(p.n_failed + p.n_cut_off)),
            ("total_ns", "Time", &|p| Cell::Duration(p.calls_ns)),
            ("n_parameters", "Parameters", &|p| {
                let models = p.models.as_ref();
                Cell::known(models.and_then(|m| m.parameters), Cell::Parameters)
            }),
            ("n_steps", "Steps", &|p| Cell::Count(p.n_steps)),
            ("first_ns", "First", &|p| {
                Cell::known(p.warm_up.as_ref(), |first| Cell::Duration(first.max_ns))
            }),
            ("p50_ns", "p50", &|p| {
                Cell::known(p.steady.as_ref(), |others| Cell::Duration(others.p50_ns))
            }),
            ("per_second", "it/s", &|p| Cell::known(p.steps_per_second, Cell::PerSecond)),
        ],
    );
    table.noted("First: its first denoising step. p50 and it/s are of its other steps.")
}
