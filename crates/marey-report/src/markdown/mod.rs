//! Documents in Markdown, which are read in pull requests, so as GitHub reads them.

pub(crate) mod escape;
mod findings;
mod job;
pub(crate) mod list;
mod report;
pub(crate) mod table;
mod trace;
mod values;

pub use job::aggregation_markdown;
pub use report::markdown_report;
pub use trace::{ranks_markdown, trace_markdown};
