//! Where did the time go, by name, wherever the section was opened?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey::{NodeKind, NodeTotals, Run};

use crate::calls::CallStats;
use crate::coverage::Coverage;
use crate::questions::sections::{Kind, SectionRow};
use crate::records::Records;

/// All sections of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct NameRow {
    /// As the user gave it; not safe to print.
    pub name: String,
    /// Completed calls. The total counts every call, also one within another of the same name.
    pub calls: CallStats,
    /// Sum of the calls that are within no other of the same name; `None` where all are.
    pub outermost_ns: Option<u64>,
    /// Time that is under no other section, open calls included; absent as in [`SectionRow`](crate::SectionRow).
    pub self_ns: Option<u64>,
    /// Share of the wall time during which at least one of them was open, 0 to 1; absent as in
    /// [`SectionRow`](crate::SectionRow).
    pub share_of_wall_ratio: Option<f64>,
}

/// Sections with completed calls by name, longest total first, then by name.
pub(crate) fn by_name(
    run: &Run,
    records: &Records,
    coverage: &Coverage<'_>,
    tree: &[SectionRow],
) -> Vec<NameRow> {
    let self_ns = coverage.self_ns();
    let outermost_ns = outermost_ns(tree);
    let mut rows: Vec<NameRow> = nodes_by_name(run, NodeKind::Section)
        .into_iter()
        .map(|(name, nodes)| {
            let mut own = nodes.iter().map(|node| self_ns[*node]);
            let calls = calls(run, records, &nodes);
            let outermost_ns = outermost_ns.get(name).copied();
            NameRow {
                name: name.to_owned(),
                outermost_ns: outermost_ns.filter(|ns| *ns < calls.total_ns),
                calls,
                self_ns: own.try_fold(0u64, |sum, ns| Some(sum.saturating_add(ns?))),
                share_of_wall_ratio: coverage.share_ratio(&nodes),
            }
        })
        .filter(|row| row.calls.count > 0)
        .collect();
    rows.sort_by(|a, b| {
        (Reverse(a.calls.total_ns), &a.name).cmp(&(Reverse(b.calls.total_ns), &b.name))
    });
    rows
}

/// By name the sum of the calls that are within no other section of it. The rows are the tree, each under its parent.
fn outermost_ns(tree: &[SectionRow]) -> BTreeMap<&str, u64> {
    let mut path: Vec<&str> = Vec::new();
    let mut n_around: BTreeMap<&str, u32> = BTreeMap::new();
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for row in tree {
        for left in path.drain(row.depth as usize..) {
            n_around.entry(left).and_modify(|n| *n -= 1);
        }
        let around = n_around.entry(&row.name).or_default();
        if *around == 0 && row.kind == Kind::Section {
            let sum = sums.entry(&row.name).or_default();
            *sum = sum.saturating_add(row.calls.total_ns);
        }
        *around += 1;
        path.push(&row.name);
    }
    sums
}

/// Call paths of a kind by their last name.
pub(crate) fn nodes_by_name(run: &Run, kind: NodeKind) -> BTreeMap<&str, Vec<usize>> {
    let mut nodes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (id, node) in run.nodes.iter().enumerate().skip(1) {
        if node.kind == kind {
            nodes.entry(&node.name).or_default().push(id);
        }
    }
    nodes
}

/// Figures of all calls of several nodes.
pub(crate) fn calls(run: &Run, records: &Records, nodes: &[usize]) -> CallStats {
    let totals: Vec<&NodeTotals> = nodes.iter().map(|node| &run.totals[*node]).collect();
    if !records.is_complete(nodes) {
        return CallStats::new(&totals, None);
    }
    match nodes {
        [only] => CallStats::new(&totals, Some(records.of(*only))),
        _ => CallStats::new(&totals, Some(&records.of_all(nodes))),
    }
}
