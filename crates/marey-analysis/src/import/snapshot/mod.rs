//! CUDA memory snapshots: what `torch.cuda.memory._dump_snapshot` writes.
//!
//! ```text
//! bytes ─► machine.rs ─► Values ─► layout.rs ─► Snapshot ─► questions/snapshot
//!          a pickle's    arenas    which key    segments, blocks,
//!          opcodes                 is what      events, stacks
//! ```
//!
//! Such a file is a pickle. Python's `pickle.load` runs whatever code a pickle names, so a snapshot from somebody else
//! is a program from somebody else. This reader knows the opcodes that build numbers, texts, lists and dictionaries, and
//! refuses all others by name: nothing is ever executed.

mod error;
mod frames;
mod layout;
mod machine;
mod opcode;
mod record;
mod values;

#[cfg(test)]
mod tests;

pub use error::SnapshotError;
pub use frames::{Frame, Stack};
pub use layout::{
    Action, Block, BlockState, DeviceTrace, MemoryEvent, Segment, SegmentKind, Snapshot,
};

/// The longest file that is read: 2 GiB.
const MAX_INPUT_BYTES: usize = 2 << 30;

/// Reads a snapshot from the bytes of its file.
///
/// What the format may leave out is `None`, what cannot be used is passed over and counted in [`Snapshot::warnings`].
/// Memory: at most 16 MiB and 12 times the length of the input, whatever the input holds; about 3 times for files that torch
/// wrote.
///
/// # Errors
/// When it is no pickle, holds an opcode that is refused, is cut off, goes past a limit, or holds something else than a
/// memory snapshot.
pub fn read_snapshot(bytes: &[u8]) -> Result<Snapshot, SnapshotError> {
    if bytes.len() > MAX_INPUT_BYTES {
        return Err(SnapshotError::Limit {
            what: "bytes in the file",
            limit: MAX_INPUT_BYTES as u64,
            offset: 0,
        });
    }
    let (values, root) = machine::run(bytes)?;
    layout::snapshot(&values, root)
}
