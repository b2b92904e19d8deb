//! A trace in Markdown.

use super::escape;
use super::findings::findings_of;
use super::values::table_markdown;
use crate::model::{Cell, Table, TraceFile, TraceRanks};
use crate::trace_report::{document, rank_tables, read_tables};

/// Tables of a run's document, and their rows.
const SHORT: [&str; 2] = ["devices", "kernel_classes"];
const SHORT_ROWS: usize = 8;

/// Everything that one file says; of each table at most `max_rows` rows, with `details` also those that are read second. Ends with a line feed.
pub fn trace_markdown(file: &TraceFile, max_rows: usize, details: bool) -> String {
    written(file, max_rows, details, |_| true)
}

/// What the files of several ranks say together, likewise.
pub fn ranks_markdown(ranks: &TraceRanks, max_rows: usize) -> String {
    let n_ranks = ranks.communication.ranks.len();
    let mut parts = vec![format!("## All {n_ranks} ranks\n")];
    parts.extend(findings_of(&ranks.findings));
    let mut tables = rank_tables(&ranks.communication);
    tables.retain(|table| !table.rows.is_empty());
    parts.extend(tables.iter().map(|table| table_markdown(table, max_rows)));
    parts.join("\n")
}

/// What of a trace stands in the document of a run.
pub(super) fn short_trace(file: &TraceFile) -> String {
    written(file, SHORT_ROWS, true, |table| SHORT.contains(&table.key))
}

fn written(
    file: &TraceFile,
    max_rows: usize,
    details: bool,
    is_wanted: impl Fn(&Table) -> bool,
) -> String {
    let facts = document::facts(file).rows;
    let facts = facts.iter().filter_map(|row| match row.as_slice() {
        [Cell::Text(fact), Cell::Text(value)] => Some(format!(
            "- {}: {}\n",
            escape::text(fact),
            escape::text(value)
        )),
        _ => None,
    });
    let title = format!("## Trace {}\n", escape::code(&file.file));
    let mut parts = vec![title, facts.collect()];
    if file.answers.is_some() {
        parts.extend(findings_of(&file.findings));
        let (tables, _) = read_tables(file, details);
        let tables = tables.iter().filter(|table| is_wanted(table));
        parts.extend(tables.map(|table| table_markdown(table, max_rows)));
    }
    parts.join("\n")
}
