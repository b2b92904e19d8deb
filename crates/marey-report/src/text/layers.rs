//! Layers that the program measured.

use super::columns::{Columns, Last};
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::{counted, duration, duration_ns, known, parameters, percent};

/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 20;
const NAME_WIDTH: usize = 48;

/// Each layer, those with most time first; `None` when the program reported none.
pub(super) fn table(report: &Report) -> Option<String> {
    let layers = report.activity.layers.as_ref()?;
    let headers = [
        "Layer",
        "Calls",
        "Total",
        "Mean",
        "Min",
        "Max",
        "Share",
        "Parameters",
    ];
    let mut table = Columns::new(&headers, Last::Figure);
    for layer in layers.each.iter().take(MAX_ROWS) {
        let total = (layer.n_timed > 0).then_some(layer.total_ns);
        table.row(vec![
            cut(&layer.name, NAME_WIDTH),
            layer.n_calls.to_string(),
            known(total, duration_ns),
            known(layer.mean_ns, duration),
            known(layer.min_ns, duration_ns),
            known(layer.max_ns, duration_ns),
            known(layer.share_ratio, percent),
            known(layer.parameters, parameters),
        ]);
    }
    let more = layers.each.len().saturating_sub(MAX_ROWS) as u64;
    let more = (more > 0).then(|| format!("… and {}", counted(more, "more layer", "more layers")));
    let notes: Vec<String> = more
        .into_iter()
        .chain(["Share: of the time of all reported layers.".to_owned()])
        .collect();
    Some(table.block("LAYERS", &notes))
}
