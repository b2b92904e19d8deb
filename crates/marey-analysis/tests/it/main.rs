//! Integration tests of the analysis.

#![allow(clippy::unwrap_used, reason = "a test")]

mod compared_noise;
mod findings;
mod many_sections;
mod properties;
mod ranks;
mod simulated_pairs;
mod traces;
