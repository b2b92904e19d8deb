//! Ranges around what both sides have that only one side has.
//!
//! ```text
//! baseline    request ── model_inference ─┬─ encode          candidate    request ─┬─ encode
//!                        ↑ left out       └─ denoise                               └─ denoise
//! ```

use std::collections::{BTreeMap, BTreeSet};

use marey::{NodeTotals, Run};

use super::call_path::Path;

/// Ranges within each other that are left out, at most.
const MOST: usize = 16;

/// Leaves out what stands around calls of one side that the other side has without it: of all that is directly in it, at least
/// half is on the other side where it stands. Returns the names of each side.
pub(super) fn without_outer_ranges(sides: &mut [Vec<Run>; 2]) -> [BTreeSet<String>; 2] {
    let mut dropped = [BTreeSet::new(), BTreeSet::new()];
    for _ in 0..MOST {
        let children = [within(&sides[0]), within(&sides[1])];
        let Some((side, path)) = [(0, 1), (1, 0)].into_iter().find_map(|(side, other)| {
            outer_range(&children[side], &children[other]).map(|path| (side, path))
        }) else {
            break;
        };
        dropped[side].extend(path.last().cloned());
        for run in &mut sides[side] {
            leave_out(run, &path);
        }
    }
    dropped
}

/// Names directly within each call path; those of the whole run within the empty one.
type Within = BTreeMap<Path, BTreeSet<String>>;

fn within(runs: &[Run]) -> Within {
    let mut all = Within::new();
    for run in runs {
        all.entry(Path::new()).or_default();
        for path in paths(run).into_iter().skip(1) {
            let Some((name, around)) = path.split_last() else {
                continue;
            };
            all.entry(around.to_vec()).or_default().insert(name.clone());
            all.entry(path).or_default();
        }
    }
    all
}

/// Of every node, the root first.
fn paths(run: &Run) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::with_capacity(run.nodes.len());
    for node in &run.nodes {
        let around = node.parent.and_then(|parent| paths.get(parent as usize));
        let mut path = around.cloned().unwrap_or_default();
        if node.parent.is_some() {
            path.push(node.name.clone());
        }
        paths.push(path);
    }
    paths
}

/// The first such range of a side.
fn outer_range(here: &Within, there: &Within) -> Option<Path> {
    let found = here.iter().find(|(path, inner)| {
        let Some((name, around)) = path.split_last() else {
            return false;
        };
        let is_range = !name.starts_with("nn.Module: ") && !name.contains("::");
        let (Some(own), Some(other)) = (here.get(around), there.get(around)) else {
            return false;
        };
        let n_common = inner.intersection(other).count();
        let is_only_there = inner.iter().any(|name| other.contains(name) && !own.contains(name));
        is_range && !there.contains_key(*path) && is_only_there && 2 * n_common >= inner.len()
    });
    found.map(|(path, _)| path.clone())
}

/// What is in the path belongs to what is around it.
fn leave_out(run: &mut Run, path: &Path) {
    let is_left_out: Vec<bool> = paths(run).iter().map(|of| of == path).collect();
    // What each node becomes: itself, or the one around it, by its new number.
    let mut becomes: Vec<u32> = Vec::with_capacity(run.nodes.len());
    let mut n_kept = 0;
    for (node, is_out) in run.nodes.iter().zip(&is_left_out) {
        let around = node.parent.and_then(|parent| becomes.get(parent as usize));
        if *is_out {
            becomes.push(around.copied().unwrap_or(0));
        } else {
            becomes.push(n_kept);
            n_kept += 1;
        }
    }
    let of = |node: u32| becomes.get(node as usize).copied().unwrap_or(0);
    let is_out = |node: u32| is_left_out.get(node as usize).copied().unwrap_or(false);
    let mut at = 0;
    run.nodes.retain(|_| {
        at += 1;
        !is_out(at - 1)
    });
    for node in &mut run.nodes {
        node.parent = node.parent.map(of);
    }
    let mut at = 0;
    run.totals.retain(|_: &NodeTotals| {
        at += 1;
        !is_out(at - 1)
    });
    run.sections.retain(|section| !is_out(section.node));
    for section in &mut run.sections {
        section.node = of(section.node);
    }
    run.gpu_spans.retain(|span| !is_out(span.node));
    for span in &mut run.gpu_spans {
        span.node = of(span.node);
    }
}
