//! Pipelines beside each other.

use marey_analysis::Pipeline;

use super::columns::{Columns, Last};
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{duration_ns, known, parameters};

const NAME_WIDTH: usize = 48;
/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 20;

/// `None` unless there are several: what a single one did is what the run did.
pub(super) fn table(report: &Report) -> Option<String> {
    if report.pipelines.len() < 2 {
        return None;
    }
    let headers = [
        "Pipeline",
        "Calls",
        "Time",
        "Parameters",
        "Steps",
        "First",
        "p50",
        "it/s",
    ];
    let mut table = Columns::new(&headers, Last::Figure);
    for pipeline in report.pipelines.iter().take(MAX_ROWS) {
        table.row(cells(pipeline));
    }
    let mut notes = Vec::new();
    if report.pipelines.len() > MAX_ROWS {
        notes.push(format!("… and {} more", report.pipelines.len() - MAX_ROWS));
    }
    notes.push("First: its first denoising step. p50 and it/s are of its other steps.".into());
    Some(table.block("PIPELINES", &notes))
}

fn cells(found: &Pipeline) -> Vec<String> {
    let count = found.models.as_ref().and_then(|models| models.parameters);
    let (first, others) = (found.warm_up.as_ref(), found.steady.as_ref());
    let mut calls = found.n_calls.to_string();
    if found.n_failed + found.n_cut_off > 0 {
        calls = format!("{calls} ({} not done)", found.n_failed + found.n_cut_off);
    }
    vec![
        cut(&found.name, NAME_WIDTH),
        calls,
        duration_ns(found.calls_ns),
        known(count, parameters),
        found.n_steps.to_string(),
        known(first, |first| duration_ns(first.max_ns)),
        known(others, |others| duration_ns(others.p50_ns)),
        known(found.steps_per_second, |rate| format!("{rate:.2}")),
    ]
}
