//! Memory of an allocator, and its pieces.

/// Memory that the allocator has from the driver.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The device.
    pub device: u32,
    /// Where it begins.
    pub address: u64,
    /// Its length.
    pub total_bytes: u64,
    /// What it is for.
    pub kind: SegmentKind,
    /// The stream that it belongs to; `None` when not known.
    pub stream: Option<u64>,
    /// The memory pool that owns it: (0, 0) is the ordinary one, others are of CUDA graphs and of the user; `None` when not known.
    pub pool: Option<(i64, i64)>,
    /// It can grow.
    pub is_expandable: bool,
    /// Its blocks: from this index into [`super::Snapshot::blocks`].
    pub first_block: usize,
    /// Their number.
    pub n_blocks: usize,
}

/// What a segment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SegmentKind {
    /// Allocations up to 1 MiB.
    Small,
    /// Longer ones.
    Large,
    /// Not known.
    Unknown,
}

/// A piece of a segment.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Where it begins.
    pub address: u64,
    /// Its length.
    pub bytes: u64,
    /// What the program asked for; `None` when not known.
    pub requested_bytes: Option<u64>,
    /// Whether it is in use.
    pub state: BlockState,
    /// Where it was allocated: index into [`super::Snapshot::stacks`].
    pub stack: Option<u32>,
}

/// Whether a block is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockState {
    /// A tensor uses it.
    Allocated,
    /// No tensor uses it any more, but work of another stream may.
    AwaitingFree,
    /// Free.
    Inactive,
}
