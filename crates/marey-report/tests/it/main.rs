//! Integration tests of the reports: all snapshots come from one example run.

mod diffusion;
mod escaping;
mod example;
mod json;
mod machine;
mod session;
mod text;
