//! What is drawn: slices in rows, rows in groups.

use serde::Serialize;

use crate::lanes;

/// Moments beyond this are not exact in a page; it is 104 days.
const MAX_NS: u64 = (1 << 53) - 1;

/// Something that took time, or happened at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slice {
    /// When it began, since the start of the run.
    pub(super) start_ns: u64,
    /// When it ended; never before `start_ns`.
    pub(super) end_ns: u64,
    /// Number of its call path, as [`Paths`](super::paths::Paths) counts.
    pub(super) path: u32,
    /// Within one flow slices nest: 0 is the thread's own, others are tasks beside it.
    pub(super) flow: u32,
    /// Sum of the values below.
    pub(super) flags: u8,
}

impl Slice {
    /// It was left by an error.
    pub(super) const FAILED: u8 = 1;
    /// It was suspended in between: it is drawn as long as it ran.
    pub(super) const PAUSED: u8 = 2;
    /// It was open when the capture ended: it is drawn up to there.
    pub(super) const OPEN: u8 = 4;
    /// It stands for several: [`Part`](super::summary::Part) says which.
    pub(super) const SUMMARY: u8 = 8;

    pub(super) fn new(path: u32, start_ns: u64, end_ns: u64) -> Self {
        let start_ns = start_ns.min(MAX_NS);
        Self {
            start_ns,
            end_ns: end_ns.clamp(start_ns, MAX_NS),
            path,
            flow: 0,
            flags: 0,
        }
    }

    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

impl lanes::Slice for Slice {
    fn start_ns(&self) -> u64 {
        self.start_ns
    }

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn flow(&self) -> u32 {
        self.flow
    }

    fn is_paused(&self) -> bool {
        self.flags & Self::PAUSED != 0
    }
}

/// Slices of which no two overlap, by time.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: RowKind,
    pub(super) depth: usize,
    pub(super) slices: Vec<Slice>,
}

/// What is in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RowKind {
    /// Slices that are nested `depth` deep in those of the rows above.
    Nested,
    /// What ran beside that: tasks, and generators that were suspended.
    Beside,
    /// Moments.
    Events,
}

/// Rows that belong together: they are folded together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) kind: GroupKind,
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
}

/// What a group is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum GroupKind {
    /// Named intervals of the run.
    Sessions,
    /// A thread of the host.
    Thread,
    /// A stream of a GPU.
    Device,
}
