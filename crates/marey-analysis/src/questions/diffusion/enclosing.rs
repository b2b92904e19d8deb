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

use super::calls::{InOrder, calls};
use super::named::ancestors;

/// Calls that loops ran in.
pub(super) struct Enclosing {
    /// Their ends, by thread, flow and node in order of their beginnings.
    calls: InOrder<(u32, u16, u32), u64>,
    /// The node whose calls loops of a node ran in.
    containers: BTreeMap<u32, u32>,
}

impl Enclosing {
    /// For calls of `nodes`; `blocks` are nodes of blocks of frames.
    pub(super) fn new(run: &Run, nodes: &[u32], blocks: &[u32]) -> Self {
        let above = |node: &u32| {
            let above = ancestors(&run.nodes, *node as usize).filter(|id| *id != 0);
            above.filter_map(|id| u32::try_from(id).ok())
        };
        let around: Vec<u32> = nodes.iter().flat_map(above).collect();
        let key = |(_, call): (usize, &Section)| {
            ((call.thread, call.flow, call.node), call.start_ns, call.end_ns)
        };
        let around = InOrder::of(calls(run, &around).map(key));
        let mut found = Self { calls: around, containers: BTreeMap::new() };
        let steps: Vec<&Section> = calls(run, nodes).map(|(_, section)| section).collect();
        for node in nodes {
            let is_container = |above: &u32| {
                let is_iteration = run.nodes[*above as usize].kind == NodeKind::Iteration;
                let own = steps.iter().filter(|step| step.node == *node);
                let mut seen = BTreeSet::new();
                !is_iteration
                    || blocks.contains(above)
                    || own
                        .filter_map(|s| Some((s.thread, s.flow, found.around(s, *above)?)))
                        .any(|call| !seen.insert(call))
            };
            let container = above(node).find(is_container);
            found.containers.extend(container.map(|container| (*node, container)));
        }
        found
    }

    /// When the call began that the loop of this step ran in; `None` at the top level, and where that call had not ended.
    pub(super) fn loop_of(&self, step: &Section) -> Option<u64> {
        let container = self.containers.get(&step.node)?;
        Some(self.around(step, *container)?.0)
    }

    /// Beginning and end of the call of a node around a step.
    fn around(&self, step: &Section, node: u32) -> Option<(u64, u64)> {
        let call = self.calls.until(&(step.thread, step.flow, node), step.start_ns);
        call.filter(|(_, end_ns)| *end_ns >= step.end_ns)
    }
}
