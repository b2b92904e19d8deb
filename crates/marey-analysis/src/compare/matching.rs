//! Which call path of one side is which of the other.
//!
//! ```text
//! baseline      generate ─┬─ encode              candidate    generate ─┬─ encode        same path
//!                         ├─ vae_decode ── conv                         ├─ decode ── conv   renamed, a guess
//!                         └─ save                                       └─ watermark       save is gone, watermark new
//! ```
//!
//! A path that both sides have is matched. Of those that only one side has, a gone and a new one under matched parents are
//! the same section renamed when they are alike: a score of what is within them, of how often they were called, of the
//! share of the time, and of the place among their siblings, at least [`ALIKE`].

use std::collections::{BTreeMap, BTreeSet};

use marey::{NodeKind, Run};
use serde::Serialize;

use super::call_path::{Path, nodes_by_path};
use super::verdict::Verdict;

/// A call path of one or both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SectionMatch {
    /// Names from the outermost to the innermost, as the baseline has them; as the candidate has them when it is new.
    pub path: Vec<String>,
    /// As the candidate has them, where that differs: it, or what it is under, was renamed.
    pub candidate_path: Option<Vec<String>>,
    /// [`Verdict::Same`] for a path of both sides, [`Verdict::Renamed`], [`Verdict::New`] or [`Verdict::Gone`].
    pub presence: Verdict,
    /// Iterations of a loop, not a section.
    pub is_loop: bool,
}

/// What is known of a call path of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub(super) is_loop: bool,
    /// Position among all paths of the side.
    pub(super) order: usize,
    /// Calls of a run, the mean of the runs.
    pub(super) count: u64,
    /// Share of the wall time, the largest of the runs; 0 where it is not known.
    pub(super) share: f64,
}

/// Call paths of one side.
pub(super) type Tree = BTreeMap<Path, Place>;

/// A score from which on two call paths are taken as one that was renamed.
const ALIKE: f64 = 0.6;

/// Call paths of all runs of a side, in the order in which any run has them first.
pub(super) fn tree(runs: &[Run]) -> Tree {
    let mut tree = Tree::new();
    for run in runs {
        let answer = crate::sections(run);
        let shares: BTreeMap<u32, f64> = answer
            .tree
            .iter()
            .map(|row| (row.node, row.share_of_wall_ratio.unwrap_or(0.0)))
            .collect();
        for (path, nodes) in nodes_by_path(&answer) {
            let is_loop = nodes.iter().all(|node| run.nodes[*node].kind == NodeKind::Iteration);
            let order = nodes.first().copied().unwrap_or(0);
            let place =
                tree.entry(path).or_insert_with(|| Place { is_loop, order, ..Place::default() });
            place.order = place.order.min(order);
            place.is_loop &= is_loop;
            for node in nodes {
                let count = run.totals.get(node).map_or(0, |totals| totals.count);
                place.count = place.count.saturating_add(count);
                let share = u32::try_from(node).ok().and_then(|node| shares.get(&node));
                // Runs may come in any order, and sums of shares would depend on it in their last digit.
                place.share = place.share.max(share.copied().unwrap_or(0.0));
            }
        }
    }
    for place in tree.values_mut() {
        place.count /= (runs.len() as u64).max(1);
    }
    tree
}

/// Names that stand at more than one place.
pub(super) fn repeated_names(tree: &Tree) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let names = tree.keys().filter_map(|path| path.last());
    names.filter(|name| !seen.insert(*name)).cloned().collect()
}

/// Every call path of both sides, those of the baseline in its order, then the new ones in theirs.
pub(super) fn matches(baseline: &Tree, candidate: &Tree) -> Vec<SectionMatch> {
    let renamed = renamed(baseline, candidate);
    let mut rows: Vec<(usize, SectionMatch)> = Vec::new();
    let mut taken: BTreeSet<Path> = BTreeSet::new();
    for (path, place) in baseline {
        let there = translated(path, &renamed);
        let is_matched = candidate.contains_key(&there);
        let is_renamed = is_matched && renamed.contains_key(path);
        if is_matched {
            taken.insert(there.clone());
        }
        let row = SectionMatch {
            presence: match (is_matched, is_renamed) {
                (true, true) => Verdict::Renamed,
                (true, false) => Verdict::Same,
                (false, _) => Verdict::Gone,
            },
            candidate_path: (is_matched && there != *path).then_some(there),
            path: path.clone(),
            is_loop: place.is_loop,
        };
        rows.push((place.order, row));
    }
    let n_baseline = rows.iter().map(|(order, _)| order + 1).max().unwrap_or(0);
    let new = candidate.iter().filter(|(path, _)| !taken.contains(*path));
    rows.extend(new.map(|(path, place)| {
        let row = SectionMatch {
            path: path.clone(),
            candidate_path: None,
            presence: Verdict::New,
            is_loop: place.is_loop,
        };
        (n_baseline + place.order, row)
    }));
    rows.sort_by_key(|(order, _)| *order);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// A path of the baseline in the candidate's words.
fn translated(path: &[String], renamed: &BTreeMap<Path, String>) -> Path {
    (1..=path.len())
        .map(|length| {
            let own = &path[length - 1];
            renamed.get(&path[..length]).unwrap_or(own).clone()
        })
        .collect()
}

/// Paths of the baseline whose last name was changed, with the new one. Outer ones are found first, so that what is within
/// them is looked for in the right place.
fn renamed(baseline: &Tree, candidate: &Tree) -> BTreeMap<Path, String> {
    let mut renamed: BTreeMap<Path, String> = BTreeMap::new();
    let depths: BTreeSet<usize> = baseline.keys().map(Vec::len).collect();
    for depth in depths {
        let mut pairs: Vec<(f64, &Path, &Path)> = Vec::new();
        let there: BTreeMap<&Path, Path> = baseline
            .keys()
            .filter(|path| path.len() == depth)
            .map(|path| (path, translated(path, &renamed)))
            .collect();
        let known: BTreeSet<&Path> = there.values().collect();
        for (path, translated) in there.iter().filter(|(_, t)| !candidate.contains_key(*t)) {
            let siblings = candidate.keys().filter(|other| {
                let is_sibling =
                    other.len() == depth && other[..depth - 1] == translated[..depth - 1];
                is_sibling && !known.contains(other)
            });
            pairs.extend(siblings.filter_map(|other| {
                let score = alike(baseline, path, candidate, other)?;
                (score >= ALIKE).then_some((score, *path, other))
            }));
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
        let mut used: BTreeSet<&Path> = BTreeSet::new();
        for (_, path, other) in pairs {
            if used.contains(path) || used.contains(other) {
                continue;
            }
            used.extend([path, other]);
            if let Some(name) = other.last() {
                renamed.insert(path.clone(), name.clone());
            }
        }
    }
    renamed
}

/// How much two call paths are alike, 0 to 1; `None` when they cannot be the same.
fn alike(baseline: &Tree, path: &Path, candidate: &Tree, other: &Path) -> Option<f64> {
    let (before, after) = (baseline.get(path)?, candidate.get(other)?);
    if before.is_loop != after.is_loop {
        return None;
    }
    let (within_before, within_after) = (within(baseline, path), within(candidate, other));
    let closeness = |a: f64, b: f64| {
        if a.max(b) > 0.0 { a.min(b) / a.max(b) } else { 1.0 }
    };
    let count = closeness(crate::stats::float(before.count), crate::stats::float(after.count));
    let share = closeness(before.share, after.share);
    let place = closeness(1.0 + position(baseline, path), 1.0 + position(candidate, other));
    if within_before.is_empty() && within_after.is_empty() {
        return Some(0.45 * count + 0.35 * share + 0.2 * place);
    }
    let common = within_before.intersection(&within_after).count();
    let all = within_before.union(&within_after).count();
    let children = crate::stats::ratio(common as u128, all as u128);
    Some(0.4 * children + 0.25 * count + 0.2 * share + 0.15 * place)
}

/// Paths below one, without it.
fn within<'a>(tree: &'a Tree, path: &Path) -> BTreeSet<&'a [String]> {
    let below = tree.range(path.clone()..).skip(1).take_while(|(p, _)| p.starts_with(path));
    below.map(|(p, _)| &p[path.len()..]).collect()
}

/// How many siblings come before it.
fn position(tree: &Tree, path: &Path) -> f64 {
    let depth = path.len();
    let Some(own) = tree.get(path) else {
        return 0.0;
    };
    let parent = path[..depth - 1].to_vec();
    let siblings = tree.range(parent.clone()..).take_while(|(p, _)| p.starts_with(&parent));
    let earlier = siblings.filter(|(p, place)| p.len() == depth && place.order < own.order);
    crate::stats::float(earlier.count() as u64)
}

#[cfg(test)]
mod tests;
