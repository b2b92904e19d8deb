//! What the program had at one moment, by where it was allocated.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::replay::Replay;
use super::stacks::StackFrames;
use super::times::Times;
use crate::stats::ratio;

/// Rows of each table.
const MAX_ROWS: usize = 100;

/// What the program had at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Alive {
    /// All of it.
    pub bytes: u64,
    /// Number of allocations.
    pub count: u64,
    /// The part that was there before the recording began.
    pub before_recording_bytes: u64,
    /// What was allocated before any `forward` ran and was never given back: weights; `None` where no stack says that one ran.
    #[serde(skip)]
    pub weights_bytes: Option<u64>,
    /// By stack, the largest first; the first 100.
    pub by_stack: Vec<AliveRow>,
    /// Bytes of stacks that are not listed.
    pub other_stacks_bytes: u64,
    /// By the section that was open in the main thread when it was allocated, without a run the range that torch noted; the largest
    /// first, the first 100. `None` with neither, when the snapshot has no times, and when they are all of another time than the run.
    pub by_section: Option<Vec<AliveInSection>>,
    /// Bytes of sections that are not listed; 0 without sections.
    pub other_sections_bytes: u64,
}

/// Allocations with the same stack.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AliveRow {
    /// Their bytes.
    pub bytes: u64,
    /// Share of all, 0 to 1; `None` when there is nothing.
    pub share: Option<f64>,
    /// Their number.
    pub count: u64,
    /// The largest of them.
    pub largest_bytes: u64,
    /// They were there before the recording began.
    pub is_before_recording: bool,
    /// Where they were allocated; `None` when no stack was recorded.
    pub stack: Option<StackFrames>,
}

/// Allocations of one section.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct AliveInSection {
    /// Index into `Run::nodes`; `None` for what was allocated under no section, or before the recording of memory began.
    pub node: Option<u32>,
    /// Names from the top level down; empty without `node`. Not safe to print.
    pub path: Vec<String>,
    /// They were there before the recording of memory began.
    pub is_before_recording: bool,
    /// Their bytes.
    pub bytes: u64,
    /// Share of all, 0 to 1; `None` when there is nothing.
    pub share: Option<f64>,
    /// Their number.
    pub count: u64,
}

/// Sums of one row.
#[derive(Clone, Copy, Default)]
struct Sums {
    bytes: u64,
    count: u64,
    largest: u64,
}

impl Sums {
    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.count += 1;
        self.largest = self.largest.max(bytes);
    }
}

impl Alive {
    pub(super) fn new(replay: &Replay<'_>, state: usize, times: &Times<'_>) -> Self {
        let mut all = Sums::default();
        let mut before_recording_bytes = 0u64;
        let mut kept_bytes = 0u64;
        let first_forward = first_forward(replay);
        let end = replay.events.len();
        let mut stacks: BTreeMap<(Option<u32>, bool), Sums> = BTreeMap::new();
        let mut sections: BTreeMap<(Option<u32>, bool), Sums> = BTreeMap::new();
        for found in replay.allocations.iter().filter(|a| a.is_allocated(state)) {
            let is_before = found.born == 0;
            if first_forward.is_some_and(|first| found.born < first) && found.is_allocated(end) {
                kept_bytes = kept_bytes.saturating_add(found.bytes);
            }
            all.add(found.bytes);
            stacks.entry((found.stack, is_before)).or_default().add(found.bytes);
            if is_before {
                before_recording_bytes = before_recording_bytes.saturating_add(found.bytes);
                sections.entry((None, true)).or_default().add(found.bytes);
            } else {
                let node = times.node(replay.time_us(found.born));
                sections.entry((node, false)).or_default().add(found.bytes);
            }
        }
        let (stacks, other_stacks_bytes) = largest(stacks);
        let share =
            |sums: &Sums| (all.bytes > 0).then(|| ratio(sums.bytes.into(), all.bytes.into()));
        let by_stack = stacks.iter().map(|((stack, is_before_recording), sums)| AliveRow {
            bytes: sums.bytes,
            share: share(sums),
            count: sums.count,
            largest_bytes: sums.largest,
            is_before_recording: *is_before_recording,
            stack: StackFrames::new(replay.snapshot, *stack),
        });
        let (by_section, other_sections_bytes) = largest(sections);
        let by_section =
            by_section.into_iter().map(|((node, is_before_recording), sums)| AliveInSection {
                node,
                path: times.path(node),
                is_before_recording,
                bytes: sums.bytes,
                share: share(&sums),
                count: sums.count,
            });
        Self {
            bytes: all.bytes,
            count: all.count,
            before_recording_bytes,
            weights_bytes: first_forward.map(|_| kept_bytes),
            by_stack: by_stack.collect(),
            other_stacks_bytes,
            by_section: times.knows_sections().then(|| by_section.collect()),
            other_sections_bytes,
        }
    }
}

/// The first state with memory that a `forward` allocated.
fn first_forward(replay: &Replay<'_>) -> Option<usize> {
    let snapshot = replay.snapshot;
    let is_forward: Vec<bool> = snapshot.frames.iter().map(|f| f.name == "forward").collect();
    let ran = |stack: u32| {
        let stack = snapshot.stacks.get(stack as usize);
        let mut frames = stack.iter().flat_map(|stack| &stack.0);
        frames.any(|frame| is_forward.get(*frame as usize) == Some(&true))
    };
    let born = replay.allocations.iter();
    let born = born.filter(|found| found.stack.is_some_and(ran));
    born.map(|found| found.born).min()
}

/// The rows with most bytes, and the bytes of the others.
fn largest<K: Ord + Copy>(rows: BTreeMap<K, Sums>) -> (Vec<(K, Sums)>, u64) {
    let mut rows: Vec<(K, Sums)> = rows.into_iter().collect();
    rows.sort_by_key(|(key, sums)| (Reverse(sums.bytes), *key));
    let others = rows.split_off(rows.len().min(MAX_ROWS));
    let bytes = others.iter().map(|(_, sums)| sums.bytes);
    (rows, bytes.fold(0, u64::saturating_add))
}
