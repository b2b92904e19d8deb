//! Samplers: threads that read the machine at an interval.
//!
//! ```text
//! source ─► round ─┬─► time buckets ─► notes in a lane of their own ─► capture
//!                  └─► table in shared memory ─► live viewers
//! ```

mod buckets;
mod deadline;
mod host;
mod machine;
mod rounds;
mod source;
mod thread;

pub use host::{HostOptions, HostSource, oom_kills};
pub use source::Source;
pub(crate) use thread::Sampler;
pub use thread::SamplerOptions;
