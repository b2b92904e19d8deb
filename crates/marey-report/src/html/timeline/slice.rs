//! What is drawn: slices in rows, rows in groups.

use serde::Serialize;

use crate::lanes;

/// Moments beyond this are not exact in a page; it is 104 days.
const MAX_NS: u64 = (1 << 53) - 1;

/// With the number of its call path, as [`Paths`](super::paths::Paths) counts.
pub(super) type Slice = lanes::Slice<u32>;

impl Slice {
    /// It stands for several: [`Part`](super::summary::Part) says which.
    pub(super) const SUMMARY: u8 = 8;

    pub(super) fn of_path(path: u32, start_ns: u64, end_ns: u64) -> Self {
        Self::new(path, start_ns.min(MAX_NS), end_ns.min(MAX_NS))
    }

    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
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
