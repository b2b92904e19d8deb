//! What counters read.

use super::columns::{Columns, Last};
use crate::escape::cut;
use crate::model::Report;
use crate::quantity::number;

/// More rows than this do not help anybody on a terminal.
const MAX_ROWS: usize = 40;

/// Each counter; `None` when there was none.
pub(super) fn table(report: &Report) -> Option<String> {
    let counters = &report.counters;
    if counters.is_empty() {
        return None;
    }
    let headers = ["Counter", "Count", "Min", "Mean", "Max", "Last"];
    let mut table = Columns::new(&headers, Last::Figure);
    for counter in counters.iter().take(MAX_ROWS) {
        table.row(vec![
            cut(&counter.name, 48),
            counter.count.to_string(),
            number(counter.min),
            number(counter.mean),
            number(counter.max),
            number(counter.last),
        ]);
    }
    let more = counters.len().saturating_sub(MAX_ROWS);
    let notes = (more > 0).then(|| format!("… and {more} more"));
    Some(table.block("COUNTERS", notes.as_slice()))
}
