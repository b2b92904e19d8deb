//! The documents' own tables, and `timing_summary.txt`.

mod block;
mod iterations;
mod job;
mod memory;
mod timing;

use crate::document::Block;
use crate::model::Report;
use crate::render::text::text;
use crate::run_report::run_document;

pub use iterations::iteration_summary;
pub use job::aggregation_summary;
pub use memory::memory_summary;
pub use timing::timing_summary;

/// Names in the timing table of the summary.
const TOP_NAMES: usize = 30;
/// Tables of the document of a run that say what the documents' own tables say.
const SAID_BEFORE: [&str; 2] = ["section_names", "memory_readings"];

/// `timing_summary.txt`: the documents' own tables, then all else of the document of the run. Ends with a line feed.
pub fn summary(report: &Report) -> String {
    let mut parts = vec![timing_summary(report, TOP_NAMES)];
    let memory = report.memory.as_ref();
    if memory.is_some_and(|memory| !memory.labelled.is_empty()) {
        parts.push(memory_summary(report));
    }
    parts.extend(report.iterations.iter().map(iterations::block_of));
    let mut rest = run_document(report, None);
    let is_new = |block: &Block| match block {
        Block::Table(table) => !SAID_BEFORE.contains(&table.key),
        _ => true,
    };
    rest.blocks.retain(is_new);
    parts.push(text(&rest, None));
    parts.join("\n")
}
