//! Integration tests of the recorder and its capture. Each scenario runs a child process of its own, because a process has one
//! recorder.

#![allow(clippy::unwrap_used, reason = "a test")]

mod configured;
mod damage;
mod disk;
mod endings;
mod first_and_last;
mod flood;
mod forks;
mod futures;
mod guests;
mod instructions;
mod kill;
mod limits;
mod live;
mod places;
#[cfg(feature = "macros")]
mod profiled_functions;
mod profiling_config;
#[cfg(feature = "yaml")]
mod profiling_yaml;
mod program;
mod samplers;
mod threads;
#[cfg(feature = "tracing")]
mod tracing_spans;
mod watching;
