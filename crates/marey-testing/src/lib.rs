//! What tests, examples and benches of the other crates share: a [`Run`](marey::Run) from a drawn timeline. Never shipped.

mod run_builder;

pub use run_builder::{RunBuilder, Within};
