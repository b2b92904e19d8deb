//! Integration tests of the recorder and its capture. Each scenario runs a child process of its own, because a process has one
//! recorder.

#![allow(clippy::unwrap_used, reason = "a test")]

mod kill;
mod program;
