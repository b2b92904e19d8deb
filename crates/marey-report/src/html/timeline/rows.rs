//! What is drawn: slices in rows, so that no two of a row overlap and none is left out, and rows in groups.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::lanes::{self, lanes};

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
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "RowObject")]
pub(super) struct Row {
    pub(super) kind: RowKind,
    pub(super) depth: usize,
    /// How many; columns have the slices themselves.
    #[serde(rename = "n_slices", serialize_with = "number")]
    #[schemars(with = "usize")]
    pub(super) slices: Vec<Slice>,
}

fn number<S: Serializer>(slices: &[Slice], serializer: S) -> Result<S::Ok, S::Error> {
    slices.len().serialize(serializer)
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
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "GroupObject")]
pub(super) struct Group {
    pub(super) kind: GroupKind,
    pub(super) title: String,
    pub(super) rows: Vec<Row>,
    /// When the host launched what a device did, by path and beginning; columns have it.
    #[serde(skip)]
    pub(super) launches: Launches,
}

/// Moments of launches, by the path and the beginning of what was launched.
pub(super) type Launches = BTreeMap<(u32, u64), u64>;

impl Group {
    /// Of what nothing launched.
    pub(super) fn of_host(kind: GroupKind, title: String, rows: Vec<Row>) -> Self {
        Self { kind, title, rows, launches: Launches::new() }
    }
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

/// Rows of the slices of one thread. What nests in the thread's own flow is a row by its depth; below, lane by lane, so is what lies beside
/// it.
///
/// ```text
/// own flow   |---a-----------------------|    nested 0
///              |-b-|                          nested 1
/// task 1     |---c-------|     |-f--|         beside 0
///               |-d-|                         beside 1
/// task 2         |---e----------|             beside 2
/// ```
pub(super) fn rows(mut slices: Vec<Slice>) -> Vec<Row> {
    // Of the same extent the outer one has the smaller path.
    slices.sort_unstable_by_key(|s| (s.start_ns, Reverse(s.end_ns), s.what, s.flow, s.flags));
    let mut lanes = lanes(slices).into_iter();
    let own = lanes.next().map(by_depth).unwrap_or_default();
    let beside = lanes.flat_map(by_depth).collect();
    let row = |kind| move |(depth, slices)| Row { kind, depth, slices };
    let own = numbered(own).map(row(RowKind::Nested));
    own.chain(numbered(beside).map(row(RowKind::Beside))).collect()
}

fn numbered(rows: Vec<Vec<Slice>>) -> impl Iterator<Item = (usize, Vec<Slice>)> {
    rows.into_iter().enumerate()
}

/// The slices of a lane by how many they lie in.
fn by_depth(mut lane: Vec<Slice>) -> Vec<Vec<Slice>> {
    let mut ends: Vec<u64> = Vec::new();
    let mut rows: Vec<Vec<Slice>> = Vec::new();
    // From the end, whose memory can be given back while the rows grow.
    lane.reverse();
    while let Some(slice) = lane.pop() {
        if lane.len() < lane.capacity() / 4 * 3 {
            lane.shrink_to_fit();
        }
        while ends.last().is_some_and(|end| *end <= slice.start_ns) {
            ends.pop();
        }
        if ends.len() == rows.len() {
            rows.push(Vec::new());
        }
        rows[ends.len()].push(slice);
        ends.push(slice.end_ns);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(path: u32, start_ns: u64, end_ns: u64, flow: u32) -> Slice {
        Slice { flow, ..Slice::new(path, start_ns, end_ns) }
    }

    fn laid_out(slices: Vec<Slice>) -> Vec<(RowKind, usize, Vec<u32>)> {
        let paths = |row: &Row| row.slices.iter().map(|s| s.what).collect();
        let rows = rows(slices);
        rows.iter().map(|row| (row.kind, row.depth, paths(row))).collect()
    }

    #[test]
    fn a_suspended_generator_lies_beside_because_it_did_not_run_all_that_time() {
        let paused = Slice { flags: Slice::PAUSED, ..Slice::new(2, 2, 6) };
        let rows = laid_out(vec![slice(1, 0, 8, 0), paused, slice(3, 3, 5, 0)]);
        assert_eq!(
            rows,
            [
                (RowKind::Nested, 0, vec![1]),
                (RowKind::Nested, 1, vec![3]),
                (RowKind::Beside, 0, vec![2])
            ]
        );
    }

    #[test]
    fn no_row_has_an_overlap_and_no_slice_is_lost_whatever_the_slices() {
        let mut seed = 7_u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let slices: Vec<Slice> = (0..random(60))
                .map(|path| {
                    let start = random(100);
                    let flow = u32::try_from(random(4)).unwrap();
                    let path = u32::try_from(path).unwrap();
                    Slice {
                        flags: if random(5) == 0 { Slice::PAUSED } else { 0 },
                        ..slice(path, start, start + random(30), flow)
                    }
                })
                .collect();
            let rows = rows(slices.clone());
            let mut found: Vec<u32> = Vec::new();
            for row in &rows {
                let pairs = row.slices.windows(2);
                assert!(pairs.into_iter().all(|p| p[0].end_ns <= p[1].start_ns), "{row:?}");
                found.extend(row.slices.iter().map(|s| s.what));
            }
            found.sort_unstable();
            let given: Vec<u32> = slices.iter().map(|s| s.what).collect();
            assert_eq!(found, given);
        }
    }
}
