//! The host source on this machine, against other ways to learn the same.

#![allow(clippy::unwrap_used, reason = "a test")]

mod allocations;
mod live;
