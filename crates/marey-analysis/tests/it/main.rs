//! Integration tests of the analysis.

mod compared_noise;
mod many_sections;
mod properties;
