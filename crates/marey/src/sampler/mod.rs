//! Samplers: threads that read the machine at an interval.
//!
//! ```text
//! source ─► round ─┬─► time buckets ─► notes in a lane of their own ─► capture
//!                  └─► table in shared memory ─► live viewers
//! ```

mod buckets;
mod host;
mod rounds;
mod thread;

pub use host::{HostOptions, HostSource, oom_kills};
pub(crate) use thread::Sampler;
pub use thread::SamplerOptions;

use crate::series::{SeriesInfo, Unavailable};

/// Something that can be read again and again: the host, a vendor's GPU library.
///
/// A source lives on a thread of its own, so it may block; nobody waits for it longer than 100 ms. Which series it has is settled when it
/// is made; a reading that is not to be had at some moment is NaN at that moment, and a series that is never to be had does not exist and
/// is named in [`Self::unavailable`].
pub trait Source: Send {
    /// The series, in the order in which [`Self::read`] gives their values. Asked once.
    fn series(&self) -> Vec<SeriesInfo>;

    /// Reads all series once. `values` is as long as [`Self::series`] and filled with NaN, which stands for "not to be had now".
    /// Allocates nothing.
    fn read(&mut self, values: &mut [f64]);

    /// What this machine does not give, and why. Asked once, after [`Self::series`].
    fn unavailable(&self) -> Vec<Unavailable> {
        Vec::new()
    }

    /// What is worth knowing about the things that are read, as key and value: name, driver version. Asked once.
    fn facts(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
