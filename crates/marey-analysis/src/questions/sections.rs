//! Where did the time go, by call path?
//!
//! ```text
//! time        0         10        20        30        40
//! main        |---- denoise ------|         |- decode -|
//!               |attn|   |attn|
//!
//! denoise     inclusive 20, self 20 − 5 − 5 = 10, share of wall 20/40
//!   attn      inclusive 10, self 10
//! decode      inclusive 10 …
//! (under no section)  40 − 30 = 10
//! ```

use std::collections::BTreeMap;

use marey::{NodeKind, Run};
use serde::Serialize;

use crate::calls::CallStats;
use crate::coverage::Coverage;
use crate::questions::names::{NameRow, by_name};
use crate::records::Records;

/// Where the time of a run went.
#[derive(Clone, Debug, PartialEq)]
pub struct Sections {
    /// Duration of the run.
    pub wall_ns: u64,
    /// Call paths, parents before their children, children by inclusive time, longest first.
    pub tree: Vec<SectionRow>,
    /// Sections (not iterations) with the same name put together, longest total first; only completed calls.
    pub by_name: Vec<NameRow>,
    /// Wall time that no section and no iteration covers, over all threads.
    pub under_no_section: UnderNoSection,
}

/// One call path.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionRow {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// `node` of the row that this one is under; `None` at the top level.
    pub parent: Option<u32>,
    /// 0 at the top level.
    pub depth: u32,
    /// As the user gave it; not safe to print.
    pub name: String,
    /// Section or iteration.
    pub kind: Kind,
    /// It ran beside its parent: not part of the parent's time.
    pub is_detached: bool,
    /// Completed calls.
    pub calls: CallStats,
    /// Sum of all calls, open ones up to the end of the run.
    pub inclusive_ns: u64,
    /// `inclusive_ns` without what is under it. Of all threads together, like `inclusive_ns`. `None` where what is under
    /// it took longer than it: a child outlived its parent, or children of one call ran in several threads.
    pub self_ns: Option<u64>,
    /// Share of the wall time during which at least one call was open, 0 to 1. `None` when records are missing and the
    /// calls may have overlapped.
    pub share_of_wall_ratio: Option<f64>,
    /// Calls that had not ended; `None` when all had.
    pub open: Option<OpenCalls>,
}

/// What a row counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A named span.
    Section,
    /// Iterations of a loop.
    Iteration,
}

/// Calls that were open when the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCalls {
    /// How many.
    pub count: u64,
    /// Their time up to the end of the run, all together.
    pub so_far_ns: u64,
}

/// Wall time that nothing covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderNoSection {
    /// Nanoseconds.
    Known(u64),
    /// Not available, and why.
    Unknown(NotAvailable),
}

/// Why a figure is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAvailable {
    /// This many sections are in the totals but not recorded one by one, and they may have overlapped.
    NotRecordedOneByOne(u64),
    /// This many sections were not recorded at all.
    NotRecorded(u64),
}

/// Where the time of the run went. Time: one sort of all records; memory: 16 bytes a record and one more such list.
pub fn sections(run: &Run) -> Sections {
    let records = Records::new(run, |node| node > 0);
    let coverage = Coverage::new(run, &records);
    let tree = tree(run, &records, &coverage);
    Sections {
        wall_ns: run.wall_ns,
        by_name: by_name(run, &records, &coverage, &tree),
        tree,
        under_no_section: under_no_section(run, &records, &coverage),
    }
}

fn under_no_section(run: &Run, records: &Records, coverage: &Coverage<'_>) -> UnderNoSection {
    if run.losses.sections_unrecorded > 0 {
        let unrecorded = NotAvailable::NotRecorded(run.losses.sections_unrecorded);
        return UnderNoSection::Unknown(unrecorded);
    }
    let Some(covered_ns) = coverage.covered_by_any_ns() else {
        let missing = (0..run.nodes.len()).map(|n| records.n_missing(n)).sum();
        return UnderNoSection::Unknown(NotAvailable::NotRecordedOneByOne(missing));
    };
    UnderNoSection::Known(run.wall_ns.saturating_sub(covered_ns))
}

fn tree(run: &Run, records: &Records, coverage: &Coverage<'_>) -> Vec<SectionRow> {
    let inclusive_ns: Vec<u64> =
        (0..run.nodes.len()).map(|node| coverage.inclusive_ns(node)).collect();
    let self_ns = coverage.self_ns();
    let children = children(run, coverage, &inclusive_ns);
    let mut rows = Vec::new();
    // Last in, first out: children are pushed in reverse, so that the longest comes first.
    let mut waiting: Vec<(usize, u32)> = Vec::new();
    let push = |waiting: &mut Vec<(usize, u32)>, parent: usize, depth: u32| {
        let below = children.get(&parent).into_iter().flatten().rev();
        waiting.extend(below.map(|child| (*child, depth)));
    };
    push(&mut waiting, 0, 0);
    while let Some((node, depth)) = waiting.pop() {
        let times = (inclusive_ns[node], self_ns[node]);
        rows.push(row(run, records, coverage, node, depth, times));
        push(&mut waiting, node, depth + 1);
    }
    rows
}

fn row(
    run: &Run,
    records: &Records,
    coverage: &Coverage<'_>,
    node: usize,
    depth: u32,
    (inclusive_ns, self_ns): (u64, Option<u64>),
) -> SectionRow {
    let described = &run.nodes[node];
    let recorded = records.is_complete(&[node]).then(|| records.of(node));
    let n_open = coverage.open(node).len() as u64;
    SectionRow {
        node: u32::try_from(node).unwrap_or(u32::MAX),
        parent: described.parent.filter(|parent| *parent > 0),
        depth,
        name: described.name.clone(),
        kind: described.kind.into(),
        is_detached: described.is_detached,
        calls: CallStats::new(&[&run.totals[node]], recorded),
        inclusive_ns,
        self_ns,
        share_of_wall_ratio: coverage.share_ratio(&[node]),
        open: (n_open > 0).then(|| OpenCalls { count: n_open, so_far_ns: coverage.open_ns(node) }),
    }
}

/// Nodes that were used, by parent, longest first.
fn children(
    run: &Run,
    coverage: &Coverage<'_>,
    inclusive_ns: &[u64],
) -> BTreeMap<usize, Vec<usize>> {
    let mut is_used: Vec<bool> = (0..run.nodes.len())
        .map(|node| run.totals[node].count > 0 || !coverage.open(node).is_empty())
        .collect();
    let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    // A parent has a smaller id than its children, so it learns of them before its turn.
    for node in (1..run.nodes.len()).rev() {
        if let (true, Some(parent)) = (is_used[node], run.nodes[node].parent) {
            is_used[parent as usize] = true;
            children.entry(parent as usize).or_default().push(node);
        }
    }
    for below in children.values_mut() {
        below.sort_by_key(|node| (std::cmp::Reverse(inclusive_ns[*node]), *node));
    }
    children
}

impl From<NodeKind> for Kind {
    fn from(kind: NodeKind) -> Self {
        match kind {
            NodeKind::Section => Self::Section,
            NodeKind::Iteration => Self::Iteration,
        }
    }
}

#[cfg(test)]
mod tests;
