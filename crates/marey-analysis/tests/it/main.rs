//! Integration tests of the analysis.

mod compared_noise;
mod findings;
mod many_sections;
mod properties;
mod simulated_pairs;
