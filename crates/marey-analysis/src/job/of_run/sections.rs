//! Sums of call paths.

use std::collections::BTreeMap;

use marey::{NodeKind, NodeTotals, Run};

use crate::account::account_alone;
use crate::job::{LogBuckets, RankSummary, SectionSums};

/// Deepest call path; what a damaged capture claims beyond is cut off.
const MAX_DEPTH: usize = 256;

/// The call paths with the most time, in order of the path.
pub(super) fn sections(run: &Run) -> Vec<SectionSums> {
    let open = open(run);
    let held = held(run);
    let totals = run.totals.iter().enumerate();
    let open_ns = |node: &usize| open.get(node).copied();
    let mut called: Vec<(usize, &NodeTotals)> = totals
        .filter(|(node, totals)| *node > 0 && (totals.count > 0 || open.contains_key(node)))
        .collect();
    let time =
        |(node, totals): &(usize, &NodeTotals)| totals.sum_ns.max(open_ns(node).unwrap_or(0));
    called.sort_by_key(|row| (std::cmp::Reverse(time(row)), row.0));
    called.truncate(RankSummary::MAX_SECTIONS);
    let mut recorded = recorded(run, &called);
    let row = |(node, totals): (usize, &NodeTotals)| {
        let histogram = totals.histogram.as_ref().map(LogBuckets::of_histogram);
        let all_recorded = recorded
            .remove(&node)
            .filter(|each| totals.count > 0 && each.len() as u64 == totals.count);
        SectionSums {
            path: path(run, node),
            is_iteration: run.nodes.get(node).map(|n| n.kind) == Some(NodeKind::Iteration),
            count: totals.count,
            total_ns: totals.sum_ns,
            min_ns: totals.min_ns,
            max_ns: totals.max_ns,
            errors: totals.errors,
            durations: histogram.or_else(|| all_recorded.map(LogBuckets::of)),
            open_ns: open_ns(&node),
            held_ns: held.as_ref().and_then(|held| held.get(node).copied()),
        }
    };
    let mut rows: Vec<SectionSums> = called.into_iter().map(row).collect();
    rows.sort_by(|a, b| (&a.path, a.is_iteration).cmp(&(&b.path, b.is_iteration)));
    rows
}

/// What each node held the run up by itself.
fn held(run: &Run) -> Option<Vec<u64>> {
    let account = account_alone(run)?;
    let mut held = vec![0; run.nodes.len()];
    for row in &account.rows {
        held[row.node as usize] = row.self_ns;
    }
    Some(held)
}

/// How long each call path has been open that was when the run ended; of several calls, the longest.
fn open(run: &Run) -> BTreeMap<usize, u64> {
    let mut open: BTreeMap<usize, u64> = BTreeMap::new();
    for section in &run.open {
        let longest = open.entry(section.node as usize).or_default();
        *longest = (section.end_ns(run.wall_ns) - section.start_ns).max(*longest);
    }
    open.retain(|node, _| *node > 0 && *node < run.totals.len());
    open
}

/// Durations of the recorded calls of nodes for which no histogram was kept.
fn recorded(run: &Run, called: &[(usize, &NodeTotals)]) -> BTreeMap<usize, Vec<u64>> {
    let without = called.iter().filter(|(_, t)| t.histogram.is_none());
    let mut found: BTreeMap<usize, Vec<u64>> =
        without.map(|(node, _)| (*node, Vec::new())).collect();
    if !found.is_empty() {
        for section in &run.sections {
            if let Some(durations) = found.get_mut(&(section.node as usize)) {
                durations.push(section.end_ns.saturating_sub(section.start_ns));
            }
        }
    }
    found
}

/// Names from the outermost section to this one.
fn path(run: &Run, node: usize) -> Vec<String> {
    let parent = |node: &usize| {
        let parent = run.nodes.get(*node)?.parent? as usize;
        (parent > 0 && parent < *node).then_some(parent)
    };
    let up = std::iter::successors(Some(node), parent).take(MAX_DEPTH);
    let names = up.filter_map(|node| Some(run.nodes.get(node)?.name.clone()));
    let mut path: Vec<String> = names.collect();
    path.reverse();
    path
}
