//! What documents in Markdown are made of; they are read in pull requests, so as GitHub reads them.

pub(crate) mod escape;
pub(crate) mod list;
pub(crate) mod table;
