//! Answers about recorded runs.
//!
//! Everything here is pure: a [`marey::Run`] goes in, values come out. No clock, environment, files, printing or
//! randomness, and no order that depends on hashing: the same run gives the same answer.
//!
//! The answers serialize, because the report model is made of them; field names carry their unit.

#![forbid(unsafe_code)]

mod calls;
mod coverage;
mod intervals;
mod records;
mod stats;

mod questions;

pub use calls::{CallStats, Percentiles};
pub use intervals::{Interval, union, union_length_ns};
pub use questions::attributes::{
    AttributeRow, AttributeUse, AttributedCall, SynchronisedRow, attributes,
};
pub use questions::caches::{CacheUse, Caches, caches};
pub use questions::counters::{Counter, CounterPoint, counters};
pub use questions::iterations::{IterationPoint, Iterations, iterations};
pub use questions::memory::{
    LabelledReading, Memory, MemoryPeak, SectionMemory, SourceMemory, fragmentation_ratio, memory,
    memory_source_name,
};
pub use questions::names::NameRow;
pub use questions::sections::{
    Kind, NotAvailable, OpenCalls, SectionRow, Sections, UnderNoSection, sections,
};
pub use questions::sessions::{SessionRow, sessions};
pub use stats::{mean, median, percentile, sample_std_dev};
