//! What the allocator holds at the end without use, and in what pieces.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::import::snapshot::{BlockState, Segment, SegmentKind, Snapshot};

/// Rows of the table.
const MAX_POOLS: usize = 100;

/// Segments whose free pieces can stand in for each other.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct PoolUse {
    /// `small`, `large`, or `unknown`.
    pub kind: &'static str,
    /// The memory pool's two numbers: (0, 0) is the ordinary one; `None` when not known.
    pub pool: Option<(i64, i64)>,
    /// The stream; `None` when not known.
    pub stream: Option<u64>,
    /// Number of segments.
    pub n_segments: u64,
    /// Their length.
    pub reserved_bytes: u64,
    /// In use.
    pub allocated_bytes: u64,
    /// Of that what nobody asked for: sizes are rounded up. `None` when it is not known what was asked for.
    pub rounding_bytes: Option<u64>,
    /// Given back by the program, but still needed by another stream.
    pub awaiting_free_bytes: u64,
    /// Free.
    pub free_bytes: u64,
    /// Number of free pieces.
    pub n_free: u64,
    /// The largest of them.
    pub largest_free_bytes: u64,
}

/// The pools of a device, the largest first.
pub(super) fn pools(snapshot: &Snapshot, device: u32) -> Vec<PoolUse> {
    type Key = (SegmentKind, Option<(i64, i64)>, Option<u64>);
    let mut found: BTreeMap<Key, PoolUse> = BTreeMap::new();
    for segment in snapshot.segments.iter().filter(|s| s.device == device) {
        let key = (segment.kind, segment.pool, segment.stream);
        let row = found.entry(key).or_insert_with(|| empty(segment));
        row.n_segments += 1;
        row.reserved_bytes = row.reserved_bytes.saturating_add(segment.total_bytes);
        let blocks = &snapshot.blocks[segment.first_block..][..segment.n_blocks];
        for block in blocks {
            let sum = match block.state {
                BlockState::Allocated => &mut row.allocated_bytes,
                BlockState::AwaitingFree => &mut row.awaiting_free_bytes,
                BlockState::Inactive => &mut row.free_bytes,
            };
            *sum = sum.saturating_add(block.bytes);
            match block.state {
                BlockState::Inactive => {
                    row.n_free += 1;
                    row.largest_free_bytes = row.largest_free_bytes.max(block.bytes);
                }
                BlockState::Allocated => {
                    let unasked = block.requested_bytes.map(|r| block.bytes.saturating_sub(r));
                    let sum = row.rounding_bytes.zip(unasked);
                    row.rounding_bytes = sum.map(|(sum, more)| sum.saturating_add(more));
                }
                BlockState::AwaitingFree => {}
            }
        }
    }
    let mut rows: Vec<PoolUse> = found.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.reserved_bytes));
    rows.truncate(MAX_POOLS);
    rows
}

fn empty(segment: &Segment) -> PoolUse {
    PoolUse {
        kind: match segment.kind {
            SegmentKind::Small => "small",
            SegmentKind::Large => "large",
            SegmentKind::Unknown => "unknown",
        },
        pool: segment.pool,
        stream: segment.stream,
        n_segments: 0,
        reserved_bytes: 0,
        allocated_bytes: 0,
        rounding_bytes: Some(0),
        awaiting_free_bytes: 0,
        free_bytes: 0,
        n_free: 0,
        largest_free_bytes: 0,
    }
}
