//! Formats of a [`Document`](crate::document::Document): how its blocks look, and nothing of what they say.

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod text;
