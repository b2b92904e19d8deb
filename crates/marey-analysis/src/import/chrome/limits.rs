//! What reading a trace may take at most.

/// Past any of these reading ends with an error, so that no file, however made, fills the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Events that are kept, each in about 30 bytes.
    pub rows: usize,
    /// Bytes of all distinct names.
    pub name_bytes: usize,
    /// Bytes of one event. A longer one is skipped and counted.
    pub event_bytes: usize,
}

impl Default for Limits {
    /// 100 million events, 256 MiB of names, 16 MiB for one event.
    fn default() -> Self {
        Self {
            rows: 100_000_000,
            name_bytes: 256 << 20,
            event_bytes: 16 << 20,
        }
    }
}
