//! One question a file: a function from a run to its answer.

pub(crate) mod attributes;
pub(crate) mod caches;
pub(crate) mod counters;
pub(crate) mod iterations;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod sections;
pub(crate) mod sessions;
