//! What reading a trace may take at most.

/// Past any of these reading ends with an error, so that no file, however made, fills the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Events that are kept.
    pub rows: usize,
    /// Bytes of everything that is kept of a file, but texts. An event with a duration takes 25, work of a device 56 more;
    /// questions take about as much again.
    pub bytes: usize,
    /// Bytes of all distinct names, and as many each of what operators say about their inputs, of threads and of categories.
    pub name_bytes: usize,
    /// Bytes of one event. A longer one is skipped and counted.
    pub event_bytes: usize,
}

impl Default for Limits {
    /// 100 million events, 1 GiB, 256 MiB of names, 16 MiB for one event.
    fn default() -> Self {
        Self { rows: 100_000_000, bytes: 1 << 30, name_bytes: 256 << 20, event_bytes: 16 << 20 }
    }
}
