//! A trace in Markdown.

use super::escape;
use super::values::table_markdown;
use crate::model::TraceFile;
use crate::trace_report::trace_tables;

/// Everything that one file says; of each table at most `max_rows` rows. Ends with a line feed.
pub fn trace_markdown(file: &TraceFile, max_rows: usize) -> String {
    let mut text = format!("# Trace {}\n", escape::code(&file.file));
    let Some(answers) = &file.answers else {
        let problem = file.problem.as_deref().unwrap_or("not read");
        return format!("{text}\nnot read: {}\n", escape::text(problem));
    };
    for table in trace_tables(answers) {
        text.push('\n');
        text.push_str(&table_markdown(&table, max_rows));
    }
    text
}
