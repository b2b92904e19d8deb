//! Which call a loop of sections ran in.
//!
//! ```text
//! generate        |------- 1 -------|  |------- 2 -------|
//! denoising_step   |0||1||2|            |0||1||2|            loops: generate 1, generate 2
//! ```
//!
//! That is the nearest call around a step that is no loop's iteration, or is a block's. An iteration around a single step is that step under
//! another name, and passed over.

use std::collections::{BTreeMap, BTreeSet};

use marey::{NodeKind, Run, Section};

use super::calls::calls;
use super::named::ancestors;
use crate::intervals::Interval;

/// Calls that loops ran in.
pub(super) struct Enclosing {
    /// By thread, flow and node, in order of their beginnings.
    calls: BTreeMap<(u32, u16, u32), Vec<Interval>>,
    /// Nodes that a loop's calls may lie in, nearest first, by node of the loop.
    above: BTreeMap<u32, Vec<u32>>,
}

impl Enclosing {
    /// For calls of `nodes`; `blocks` are nodes of blocks of frames.
    pub(super) fn new(run: &Run, nodes: &[u32], blocks: &[u32]) -> Self {
        let mut above: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for node in nodes {
            let ancestors =
                ancestors(&run.nodes, *node as usize).filter_map(|id| u32::try_from(id).ok());
            above.insert(*node, ancestors.filter(|id| *id != 0).collect());
        }
        let around: Vec<u32> = above.values().flatten().copied().collect();
        let mut enclosing = Self { calls: by_place(run, &around), above };
        let steps: Vec<&Section> = calls(run, nodes).map(|(_, section)| section).collect();
        let found = nodes.iter().map(|node| {
            let container = enclosing.container(run, *node, blocks, &steps);
            (*node, container.into_iter().collect())
        });
        let found: BTreeMap<u32, Vec<u32>> = found.collect();
        enclosing.above = found;
        enclosing
    }

    /// The call that the loop of this step ran in; `None` at the top level, and where that call had not ended.
    pub(super) fn loop_of(&self, step: &Section) -> Option<Interval> {
        let container = self.above.get(&step.node)?.first()?;
        self.around(step, *container)
    }

    fn around(&self, step: &Section, node: u32) -> Option<Interval> {
        let calls = self.calls.get(&(step.thread, step.flow, node))?;
        let begun = calls.partition_point(|call| call.start_ns <= step.start_ns);
        let last = calls[..begun].last()?;
        (last.end_ns >= step.end_ns).then_some(*last)
    }

    /// The node whose calls loops of this node ran in.
    fn container(&self, run: &Run, node: u32, blocks: &[u32], steps: &[&Section]) -> Option<u32> {
        let above = self.above.get(&node)?.iter().copied();
        above.into_iter().find(|above| {
            let is_turn = run.nodes[*above as usize].kind == NodeKind::Iteration;
            !is_turn || blocks.contains(above) || self.has_several(*above, node, steps)
        })
    }

    /// One of the calls of `above` has two calls of `node` in it.
    fn has_several(&self, above: u32, node: u32, steps: &[&Section]) -> bool {
        let own = steps.iter().filter(|step| step.node == node);
        let mut seen: BTreeSet<(u32, u16, Interval)> = BTreeSet::new();
        own.filter_map(|step| Some((step.thread, step.flow, self.around(step, above)?)))
            .any(|call| !seen.insert(call))
    }
}

fn by_place(run: &Run, nodes: &[u32]) -> BTreeMap<(u32, u16, u32), Vec<Interval>> {
    let mut found: BTreeMap<(u32, u16, u32), Vec<Interval>> = BTreeMap::new();
    for (_, section) in calls(run, nodes) {
        let key = (section.thread, section.flow, section.node);
        found.entry(key).or_default().push(Interval::of(section));
    }
    for calls in found.values_mut() {
        calls.sort_unstable();
    }
    found
}
