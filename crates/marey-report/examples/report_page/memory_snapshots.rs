//! Memory snapshots beside the run of [`crate::gpu`].
//!
//! ```text
//! ms           50   60  350  380   450  455  480  560   760  800
//! old     1 │   1    1    1    1     1    1    1    1     1    1     there before the history
//! weights   │        4    4    4     4    4    4    4     4    4     under `load`
//! scores    │             2    -     3    3    -    ½     ½    ½     under steps 1, 2 and 3
//! cache     │                             1    1    1     1    1     under step 2
//! allocated 1   1    5    7    5     8    9    6    6½    6½   6½    GiB
//! reserved  2  14   14   14   14    14   14   14   14    14   14
//! ```
//!
//! At 760 ms 7 GiB are asked for: 7½ are free, the largest piece has 4, and the device has 2 left.

use marey::Run;
use marey_analysis::import::snapshot::{
    Action, Block, BlockState, DeviceTrace, Frame, MemoryEvent, Segment, SegmentKind, Snapshot,
    Stack,
};
use marey_report::SnapshotFile;

use crate::gpu::{MS, START_UNIX_NS};
use crate::video::Naming;

const HALF_GIB: u64 = 1 << 29;
/// Where the segment begins that was there before the history, in halves of a GiB.
const OLD: u64 = 200;

const WEIGHTS: u32 = 0;
const SCORES: u32 = 1;
const CACHE: u32 = 2;

/// One that was read, one that was refused, and one of nothing.
pub(crate) fn files(run: &Run, naming: Naming) -> Vec<SnapshotFile> {
    let read = |file: &str, snapshot: &Snapshot| SnapshotFile {
        file: naming(file),
        answers: Some(marey_analysis::snapshot(snapshot, Some(run))),
        problem: None,
    };
    vec![
        read("after_denoising.pickle", &drawn(naming)),
        SnapshotFile {
            file: naming("refused.pickle"),
            answers: None,
            problem: Some(naming("the opcode REDUCE runs code")),
        },
        read("empty.pickle", &Snapshot::default()),
    ]
}

fn drawn(naming: Naming) -> Snapshot {
    let (frames, stacks) = places(naming);
    let (segments, blocks) = at_the_end();
    Snapshot {
        segments,
        blocks,
        traces: vec![DeviceTrace { events: events() }],
        range_ends: Vec::new(),
        frames,
        stacks,
        rounds_to_powers: false,
        warnings: vec![("events of an unknown kind", 2)],
    }
}

fn events() -> Vec<MemoryEvent> {
    let at = |ms: u64, action, address: u64, halves: u64, stack| MemoryEvent {
        action,
        address: address * HALF_GIB,
        bytes: halves * HALF_GIB,
        time_us: Some((START_UNIX_NS + ms * MS) / 1_000),
        stack,
        device_free_bytes: (action == Action::OutOfMemory).then_some(4 * HALF_GIB),
    };
    vec![
        at(50, Action::SegmentAlloc, 0, 24, Some(WEIGHTS)),
        at(60, Action::Alloc, 0, 8, Some(WEIGHTS)),
        at(350, Action::Alloc, 8, 4, Some(SCORES)),
        at(380, Action::FreeRequested, 8, 4, None),
        at(380, Action::FreeCompleted, 8, 4, None),
        at(450, Action::Alloc, 8, 6, Some(SCORES)),
        at(455, Action::Alloc, 14, 2, Some(CACHE)),
        at(480, Action::FreeRequested, 8, 6, None),
        at(480, Action::FreeCompleted, 8, 6, None),
        at(560, Action::Alloc, 8, 1, Some(SCORES)),
        at(760, Action::OutOfMemory, 0, 14, Some(CACHE)),
        at(800, Action::Snapshot, 0, 0, None),
    ]
}

/// What there is when the snapshot is taken.
fn at_the_end() -> (Vec<Segment>, Vec<Block>) {
    use BlockState::{Allocated, Inactive};
    let block = |(address, halves, state, stack): (u64, u64, BlockState, Option<u32>)| Block {
        address: address * HALF_GIB,
        bytes: halves * HALF_GIB,
        requested_bytes: Some(halves * HALF_GIB),
        state,
        stack,
    };
    let blocks = [
        (0, 8, Allocated, Some(WEIGHTS)),
        (8, 1, Allocated, Some(SCORES)),
        (9, 5, Inactive, None),
        (14, 2, Allocated, Some(CACHE)),
        (16, 8, Inactive, None),
        (OLD, 2, Allocated, None),
        (OLD + 2, 2, Inactive, None),
    ];
    let segment = |address, halves, pool, stream, first_block, n_blocks| Segment {
        device: 0,
        address: address * HALF_GIB,
        total_bytes: halves * HALF_GIB,
        kind: SegmentKind::Large,
        stream: Some(stream),
        pool: Some(pool),
        is_expandable: false,
        first_block,
        n_blocks,
    };
    let segments = vec![segment(0, 24, (0, 0), 0, 0, 5), segment(OLD, 4, (1, 0), 7, 5, 2)];
    (segments, blocks.map(block).into())
}

/// Stacks of the weights, the scores and the cache: each in torch, called by code of the user, the scores' by way of a library.
fn places(naming: Naming) -> (Vec<Frame>, Vec<Stack>) {
    let frame = |name: &str, file: &str, line| Frame {
        name: naming(name),
        file: format!("{}.py", naming(file)),
        line,
    };
    let frames = vec![
        frame("load_model", "/home/me/film", Some(10)),
        frame("attention", "/home/me/film", Some(42)),
        frame("keep", "/home/me/cache", None),
        frame("to", "/opt/venv/site-packages/torch/nn/module", Some(7)),
        frame("main", "/home/me/film", Some(99)),
        frame("forward", "/opt/venv/site-packages/diffusers/vae", Some(115)),
    ];
    let stacks: [&[u32]; 3] = [&[3, 0, 4], &[3, 5, 1, 4], &[3, 2, 4]];
    (frames, stacks.map(|numbers| Stack(numbers.into())).into())
}
