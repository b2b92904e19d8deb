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
    Table::of_each(
        "attributes",
        "Attributes",
        &report.attributes.by_section,
        &[
            ("section", "Section", &|a| path(report, a.node)),
            ("attribute", "Attribute", &|a| Cell::name(&a.name)),
            ("n_calls", "Calls", &|a| Cell::Count(a.n_calls)),
            ("values", "Values", &|a| Cell::Name(values(a))),
        ],
    )
    .limited(MAX_ATTRIBUTES)
}

fn values(row: &AttributeFacts) -> String {
    let shown = row.values.iter().map(|v| cut(&v.text(), VALUE_WIDTH));
    let more = row.has_more_values.then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}
