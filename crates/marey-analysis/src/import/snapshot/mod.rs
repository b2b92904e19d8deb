//! CUDA memory snapshots: what `torch.cuda.memory._dump_snapshot` writes.
//!
//! ```text
//! bytes ─► machine.rs ─► Values ─► layout.rs ─► Snapshot ─► questions/snapshot
//!          a pickle's    arenas    which key    segments, blocks,
//!          opcodes;                is what      events, stacks
//!          shortcut.rs: events of the usual form, without values
//! ```
//!
//! Such a file is a pickle. Python's `pickle.load` runs whatever code a pickle names, so a snapshot from somebody else
//! is a program from somebody else. This reader knows the opcodes that build numbers, texts, lists and dictionaries, and
//! refuses all others by name: nothing is ever executed.

mod error;
mod frames;
mod known_lists;
mod layout;
mod machine;
mod machine_state;
mod memory_event;
mod opcode;
pub(super) mod record;
mod segment;
mod shortcut;
pub(super) mod values;

#[cfg(test)]
mod tests;

pub use error::SnapshotError;
pub use frames::{Frame, Stack};
pub use layout::Snapshot;
pub use memory_event::{Action, DeviceTrace, MemoryEvent, RangeEnd};
pub use segment::{Block, BlockState, Segment, SegmentKind};

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
    // What the short way does not come to the end of, the long way reads or says why not.
    read(bytes, true).or_else(|_| read(bytes, false))
}

/// What a pickle builds, and the value that it ends with. With `is_short` the parts that snapshots have many of are read in a shorter way.
pub(super) fn pickle(
    bytes: &[u8],
    is_short: bool,
) -> Result<(values::Values<'_>, values::Value), SnapshotError> {
    if bytes.len() > MAX_INPUT_BYTES {
        return Err(SnapshotError::Limit {
            what: "bytes in the file",
            limit: MAX_INPUT_BYTES as u64,
            offset: 0,
        });
    }
    machine::run(bytes, is_short)
}

fn read(bytes: &[u8], is_short: bool) -> Result<Snapshot, SnapshotError> {
    let (values, root) = pickle(bytes, is_short)?;
    layout::snapshot(&values, root)
}
