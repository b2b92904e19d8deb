//! One question a file: a function from a run to its answer.

pub(crate) mod attention;
pub(crate) mod attributes;
pub(crate) mod belonging;
pub(crate) mod caches;
pub(crate) mod counters;
pub(crate) mod diffusion;
pub(crate) mod during;
pub(crate) mod idle_gaps;
pub(crate) mod iterations;
pub(crate) mod kernel_class;
pub(crate) mod kernels;
pub(crate) mod launched_work;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod overlap;
pub(crate) mod phases;
pub(crate) mod sections;
pub(crate) mod session_runs;
pub(crate) mod sessions;
pub(crate) mod stages;
pub(crate) mod streaming;
pub(crate) mod telemetry;
pub(crate) mod transfers;
pub(crate) mod utilization;
pub(crate) mod work;
