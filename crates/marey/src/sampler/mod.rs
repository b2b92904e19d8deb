//! Samplers: threads that read the machine at an interval.

mod source;

pub use source::Source;
