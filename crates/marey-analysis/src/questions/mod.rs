//! One question a file: a function from a run to its answer.

pub(crate) mod attributes;
pub(crate) mod belonging;
pub(crate) mod caches;
pub(crate) mod counters;
pub(crate) mod diffusion;
pub(crate) mod during;
pub(crate) mod gpu_times;
pub(crate) mod iterations;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod nesting;
pub(crate) mod open_sessions;
pub(crate) mod phases;
pub mod ranks;
pub(crate) mod section_memory;
pub(crate) mod sections;
pub(crate) mod session_runs;
pub(crate) mod sessions;
pub(crate) mod snapshot;
pub(crate) mod stages;
pub(crate) mod streaming;
pub(crate) mod telemetry;
pub(crate) mod trace;
pub(crate) mod windows;
pub(crate) mod work;
