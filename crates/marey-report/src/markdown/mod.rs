//! Parts of Markdown, which is read in pull requests, so as GitHub reads it.

pub(crate) mod escape;
pub(crate) mod table;
