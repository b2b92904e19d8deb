//! A trace on a terminal.

use super::block;
use super::table::table_text;
use crate::escape::visible;
use crate::model::TraceFile;
use crate::trace_report::trace_tables;

const WIDTH: usize = 80;

/// Everything that one file says, for people; of each table at most `max_rows` rows. Ends with a line feed.
pub fn trace_text(file: &TraceFile, max_rows: usize) -> String {
    let title = format!("TRACE {}", visible(&file.file));
    let Some(answers) = &file.answers else {
        let problem = file.problem.as_deref().unwrap_or("not read");
        return block::titled(&title, &[format!("not read: {}", visible(problem))], WIDTH);
    };
    let tables = trace_tables(answers);
    let tables = tables.iter().map(|table| table_text(table, max_rows));
    tables.collect::<Vec<_>>().join("\n")
}
