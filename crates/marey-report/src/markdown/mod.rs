//! Documents in Markdown, which are read in pull requests, so as GitHub reads them.

pub(crate) mod escape;
mod findings;
mod report;
pub(crate) mod table;

pub use report::markdown_report;
