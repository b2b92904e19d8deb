//! Tests against the stand-in for NVIDIA's library, and against made-up files of the kernel.

#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(
    clippy::float_cmp,
    reason = "readings are scripted, and powers of ten convert them exactly"
)]
#![allow(clippy::type_complexity, reason = "tables of cases")]

mod amd;
mod choosing;
mod endings;
mod metrics;
mod missing;
mod stand_in;
