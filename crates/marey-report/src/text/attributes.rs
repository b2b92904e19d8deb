//! What was said about single calls.

use super::columns::{Columns, Last};
use super::sections::shown_path;
use crate::escape::cut;
use crate::model::{AttributeFacts, Report};

/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 40;
const PATH_WIDTH: usize = 60;
const NAME_WIDTH: usize = 32;
const VALUE_WIDTH: usize = 24;

/// Each attribute of each section with its first values; `None` when there were none.
pub(super) fn table(report: &Report) -> Option<String> {
    let rows = &report.attributes.by_section;
    if rows.is_empty() {
        return None;
    }
    let headers = ["Section", "Attribute", "Calls", "Values"];
    let mut table = Columns::new(&headers, Last::Text);
    for row in rows.iter().take(MAX_ROWS) {
        table.row(vec![
            shown_path(&report.call_path(row.node), PATH_WIDTH),
            cut(&row.name, NAME_WIDTH),
            row.n_calls.to_string(),
            values(row),
        ]);
    }
    let more = rows.len().saturating_sub(MAX_ROWS);
    let notes = (more > 0).then(|| format!("… and {more} more"));
    Some(table.block("ATTRIBUTES", notes.as_slice()))
}

fn values(row: &AttributeFacts) -> String {
    let shown = row.values.iter().map(|v| cut(&v.text(), VALUE_WIDTH));
    let more = row.has_more_values.then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}
