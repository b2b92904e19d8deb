//! Integration tests of the analysis.

mod many_sections;
mod properties;
