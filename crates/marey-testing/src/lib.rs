//! What tests, examples and benches of the other crates share: a [`Run`](marey::Run) from a drawn timeline. Never shipped.

mod run_builder;

/// The examples of the guide, run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide.md")]
pub struct Guide;

pub use run_builder::{RunBuilder, Within};
