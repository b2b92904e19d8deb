//! What documents in Markdown are made of; they are read in pull requests, so as GitHub reads them.

#![cfg_attr(
    not(test),
    allow(dead_code, reason = "the documents that use these come next")
)]

pub(crate) mod escape;
pub(crate) mod table;
