//! What allocators did.

/// What happened on a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceTrace {
    /// In order of time.
    pub events: Vec<MemoryEvent>,
}

/// One act of an allocator.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryEvent {
    /// What it did.
    pub action: Action,
    /// Of what; 0 for [`Action::OutOfMemory`] and [`Action::Snapshot`].
    pub address: u64,
    /// What the program asked for, or the length of the segment.
    pub bytes: u64,
    /// When: wall clock, microseconds since 1970; `None` in files of old versions.
    pub time_us: Option<u64>,
    /// Where in the program: index into [`super::Snapshot::stacks`].
    pub stack: Option<u32>,
    /// What the device had left; only for [`Action::OutOfMemory`].
    pub device_free_bytes: Option<u64>,
}

/// What an allocator did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Gave memory to the program.
    Alloc,
    /// The program gave it back.
    FreeRequested,
    /// It can be used again.
    FreeCompleted,
    /// Took a segment from the driver.
    SegmentAlloc,
    /// Gave one back.
    SegmentFree,
    /// Made a segment longer.
    SegmentMap,
    /// Made one shorter.
    SegmentUnmap,
    /// Had nothing to give.
    OutOfMemory,
    /// Somebody took a snapshot.
    Snapshot,
    /// The program left a mark for people: nothing was done.
    Mark,
}

/// A beginning or an end of a range that the program named (`record_function`) while the history was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeEnd {
    /// The device that was current then.
    pub device: u32,
    /// As the program gave it; not safe to print.
    pub name: String,
    /// The range begins; otherwise it ends.
    pub is_start: bool,
    /// When: wall clock, microseconds since 1970.
    pub time_us: u64,
}

impl Action {
    /// As torch calls it; `None` of what is not known.
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"alloc" => Self::Alloc,
            b"free_requested" => Self::FreeRequested,
            b"free_completed" => Self::FreeCompleted,
            b"segment_alloc" => Self::SegmentAlloc,
            b"segment_free" => Self::SegmentFree,
            b"segment_map" => Self::SegmentMap,
            b"segment_unmap" => Self::SegmentUnmap,
            b"oom" => Self::OutOfMemory,
            b"snapshot" => Self::Snapshot,
            b"annotate" | b"user_defined" => Self::Mark,
            _ => return None,
        })
    }
}
