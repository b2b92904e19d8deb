//! What tests, examples and benches of the other crates share: a [`Run`](marey::Run) from a drawn timeline. Never shipped.

mod run_builder;

/// The examples in Rust of the documentation, run as tests of it.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/how-to/rust.md")]
#[doc = include_str!("../../../docs/reference/machine.md")]
pub struct Documentation;

pub use run_builder::{RunBuilder, Within};
