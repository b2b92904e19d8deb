//! Integration tests of the analysis.

mod findings;
mod many_sections;
mod properties;
