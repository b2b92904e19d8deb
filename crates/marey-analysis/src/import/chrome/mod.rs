//! Traces in the shape that Chrome's viewer reads: those of torch.profiler (Kineto), and of every tool that writes it.
//!
//! ```text
//! file ─► gzip ─► window ─► event ──► builder ─► Trace
//!        (if it   (moves     │        ▲          (columns)
//!         is)     forwards)  └─ times ┘
//!                               (of the few that are unusual)
//! ```
//!
//! One pass; never more of the text in memory than a window, or one event. Times are whole nanoseconds from the first
//! digit on. An event that cannot be read is counted and costs no other; a file that is cut says all it has.

mod args;
mod builder;
mod category;
mod details;
mod document;
mod error;
mod event;
mod gzip;
mod halves;
mod inputs;
mod meanings;
mod merged_ranks;
mod metadata;
mod names;
mod nanoseconds;
mod npu;
mod quality;
mod rows;
mod run;
mod scan;
mod strict;
mod times;
mod trace;
mod tracks;
mod window;

#[cfg(test)]
mod tests;

use std::io::Read;

pub use args::{Fields, unquoted};
pub(crate) use builder::is_host_collective;
pub use category::Class;
pub use details::{Allocation, Collective, DeviceWait, Inputs, OperatorNumber};
pub use error::{Limits, ReadError};
pub(crate) use meanings::HostMeanings;
pub use meanings::Meanings;
pub use metadata::{Device, Metadata};
pub use names::Names;
pub use nanoseconds::Unit;
pub use quality::{Broken, Quality};
pub use rows::{Call, Categories, Rows, Work};
pub(crate) use run::outline_without_modules;
pub use run::{outline_of, run_of};
pub use trace::Trace;
pub use tracks::{Identifier, Process, Track, Tracks};

/// Reads a trace, compressed (gzip) or not.
///
/// Takes 25 bytes of memory an event with a duration, 56 more for work of a device, some for what others say beyond the columns
/// (16 to 48 a call or an operator), the distinct names, and a window.
pub fn read(source: impl Read, limits: Limits) -> Result<Trace, ReadError> {
    let source = gzip::Source::new(source).map_err(ReadError::from_io)?;
    document::Reader::new(source, limits).read()
}

/// Hands on every event that [`read`] understands, as JSON, with the number of its document; keeps none of them. What the file says of
/// itself and what was read of it is in the trace that comes back, whose rows are none.
pub fn read_events<'a>(
    source: impl Read + 'a,
    limits: Limits,
    each: impl FnMut(u32, &str) -> std::io::Result<()> + 'a,
) -> Result<Trace, ReadError> {
    let source = gzip::Source::new(source).map_err(ReadError::from_io)?;
    document::Reader::new(source, limits).handing_on(each).read()
}
