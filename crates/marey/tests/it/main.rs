//! Integration tests of the recorder and its capture. Each scenario runs a child process of its own, because a process has one
//! recorder.

mod kill;
mod program;
