//! Where did the time go, by name, wherever the section was opened?

use std::cmp::Reverse;
use std::collections::BTreeMap;

use marey::{NodeKind, NodeTotals, Run};

use crate::calls::CallStats;
use crate::coverage::Coverage;
use crate::records::Records;

/// All sections of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct NameRow {
    /// As the user gave it; not safe to print.
    pub name: String,
    /// Completed calls. The total counts every call, also one within another of the same name.
    pub calls: CallStats,
    /// Time that is under no other section, open calls included; 0 also where it is not known.
    pub self_ns: u64,
    /// `self_ns` is known; absent as in [`SectionRow`](crate::SectionRow).
    pub is_self_known: bool,
    /// Share of the wall time during which at least one of them was open, 0 to 1; absent as in
    /// [`SectionRow`](crate::SectionRow).
    pub share_of_wall_ratio: Option<f64>,
}

impl NameRow {
    /// Time that is under no other section; `None` where it is not known.
    pub fn known_self_ns(&self) -> Option<u64> {
        self.is_self_known.then_some(self.self_ns)
    }
}

/// Sections with completed calls by name, longest total first, then by name.
pub(crate) fn by_name(run: &Run, records: &Records, coverage: &Coverage<'_>) -> Vec<NameRow> {
    let self_ns = coverage.self_ns();
    let mut nodes_by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (id, node) in run.nodes.iter().enumerate().skip(1) {
        if node.kind == NodeKind::Section {
            nodes_by_name.entry(&node.name).or_default().push(id);
        }
    }
    let mut rows: Vec<NameRow> = nodes_by_name
        .into_iter()
        .map(|(name, nodes)| {
            let self_ns =
                nodes.iter().try_fold(0u64, |sum, node| Some(sum.saturating_add(self_ns[*node]?)));
            NameRow {
                name: name.to_owned(),
                calls: calls(run, records, &nodes),
                self_ns: self_ns.unwrap_or_default(),
                is_self_known: self_ns.is_some(),
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
