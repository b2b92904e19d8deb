//! What was said about single calls.

use super::path;
use crate::document::{Cell, Table};
use crate::escape::cut;
use crate::model::{AttributeFacts, Report};

/// Attributes that people are shown.
const MAX_ATTRIBUTES: usize = 40;
/// Columns of one of several values.
const VALUE_WIDTH: usize = 24;

/// Each attribute of each section with its first values.
pub(super) fn table(report: &Report) -> Table {
    let columns = [
        ("section", "Section"),
        ("attribute", "Attribute"),
        ("n_calls", "Calls"),
        ("values", "Values"),
    ];
    let mut table = Table::new("attributes", "Attributes", &columns).limited(MAX_ATTRIBUTES);
    for row in &report.attributes.by_section {
        table.row(vec![
            path(report, row.node),
            Cell::name(&row.name),
            Cell::Count(row.n_calls),
            Cell::Name(values(row)),
        ]);
    }
    table
}

fn values(row: &AttributeFacts) -> String {
    let shown = row.values.iter().map(|v| cut(&v.text(), VALUE_WIDTH));
    let more = row.has_more_values.then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}
