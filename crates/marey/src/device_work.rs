//! What a GPU did for a section, and what the section did to the GPU's memory. Known later than the section ended.

/// Which section something is about, in the terms of those who record: the thread's number in the process (not an index).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionKey {
    /// Number of the section's thread, from [`crate::Lane::thread_number`].
    pub thread: u32,
    /// The section's node.
    pub node: u32,
    /// When it was entered.
    pub start_ticks: u64,
}

/// Work of one section on one stream of a GPU, between two events that were queued at its ends.
///
/// ```text
/// host     start |---- section ----|
/// stream             |<- delay_ns ->|------ gpu_ns ------|
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuSpan {
    /// The section's thread: an index into [`crate::Run::threads`].
    pub thread: u32,
    /// The section's node: an index into [`crate::Run::nodes`].
    pub node: u32,
    /// When the section was entered.
    pub start_ns: u64,
    /// The device's number.
    pub device: u32,
    /// The stream, as torch numbers it; 0 is the default stream.
    pub stream: u64,
    /// From the section's start to the beginning of its work on the GPU; `None` where clocks could not be compared.
    pub delay_ns: Option<u64>,
    /// From the first to the second event on the stream: work and waiting in between.
    pub gpu_ns: u64,
    /// By how much the delay may be wrong; `None` where there is none.
    pub error_ns: Option<u64>,
}

/// What torch's allocator held during one section, on one device. Bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionMemory {
    /// The section's thread: an index into [`crate::Run::threads`].
    pub thread: u32,
    /// The section's node: an index into [`crate::Run::nodes`].
    pub node: u32,
    /// When the section was entered.
    pub start_ns: u64,
    /// What was read.
    pub figures: DeviceMemory,
}

/// Figures of torch's allocator on one device, at the ends of a section and in between. Bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceMemory {
    /// The device's number.
    pub device: u32,
    /// In tensors when the section was entered.
    pub allocated_before: u64,
    /// In tensors when it was left.
    pub allocated_after: u64,
    /// Most that is known to have been in tensors in between.
    pub allocated_peak: u64,
    /// By how much more it may have been; 0 where the peak is known.
    pub allocated_peak_error: u64,
    /// Held by the allocator when the section was entered.
    pub reserved_before: u64,
    /// Held when it was left.
    pub reserved_after: u64,
    /// Most that is known to have been held in between.
    pub reserved_peak: u64,
    /// By how much more it may have been; 0 where the peak is known.
    pub reserved_peak_error: u64,
    /// Held when it was left, and too cut up to be given back; `None` where torch did not say.
    pub inactive_split: Option<u64>,
}
