//! Flight recorder for diffusion image and video generation.

mod histogram;
mod run;
mod run_builder;
mod value;
mod warning;

pub use histogram::{Histogram, N_BUCKETS, bucket_of, bucket_range};
pub use run::{
    CacheEvent, CacheOutcome, CounterReading, Event, Losses, MemoryReading, MemorySource, Node,
    NodeKind, NodeTotals, OpenSection, Run, RunInfo, Section, SectionAttributes, Session, Status,
    Thread,
};
pub use run_builder::{RunBuilder, Within};
pub use value::{Attributes, Value};
pub use warning::Warning;
