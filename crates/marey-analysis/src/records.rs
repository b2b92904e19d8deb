//! The recorded sections of a run, sorted into their nodes.

use marey::Run;

use crate::intervals::Interval;

/// Intervals of all recorded sections by node: two passes over the run, 16 bytes a section.
pub(crate) struct Records {
    /// Those of node `n` are `intervals[offsets[n]..offsets[n + 1]]`, ascending by start.
    intervals: Vec<Interval>,
    offsets: Vec<usize>,
    threads: Vec<ThreadUse>,
    has_tasks: Vec<bool>,
    missing: Vec<u64>,
}

/// Which threads recorded sections of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ThreadUse {
    None,
    One(u32),
    Several,
}

impl Records {
    /// Sorts the records of the nodes that `is_wanted`; the others appear to have none.
    pub(crate) fn new(run: &Run, is_wanted: impl Fn(usize) -> bool) -> Self {
        let n_nodes = run.nodes.len();
        let wanted: Vec<bool> = (0..n_nodes).map(is_wanted).collect();
        let is_kept = |node: u32| wanted.get(node as usize).copied().unwrap_or(false);

        let mut offsets = vec![0; n_nodes + 1];
        let mut threads = vec![ThreadUse::None; n_nodes];
        let mut has_tasks = vec![false; n_nodes];
        for section in run.sections.iter().filter(|s| is_kept(s.node)) {
            let node = section.node as usize;
            offsets[node + 1] += 1;
            threads[node] = match threads[node] {
                ThreadUse::None => ThreadUse::One(section.thread),
                ThreadUse::One(known) if known == section.thread => ThreadUse::One(known),
                _ => ThreadUse::Several,
            };
            has_tasks[node] |= section.flow != 0;
        }
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }

        let mut next = offsets.clone();
        let nowhere = Interval { start_ns: 0, end_ns: 0 };
        let mut intervals = vec![nowhere; offsets[n_nodes]];
        for section in run.sections.iter().filter(|s| is_kept(s.node)) {
            let node = section.node as usize;
            intervals[next[node]] = Interval { start_ns: section.start_ns, end_ns: section.end_ns };
            next[node] += 1;
        }
        for node in 0..n_nodes {
            intervals[offsets[node]..offsets[node + 1]].sort_unstable();
        }

        let missing = (0..n_nodes)
            .map(|node| {
                let counted = run.totals.get(node).map_or(0, |t| t.count);
                counted.saturating_sub((offsets[node + 1] - offsets[node]) as u64)
            })
            .collect();
        Self { intervals, offsets, threads, has_tasks, missing }
    }

    /// Recorded calls of a node, ascending by start.
    pub(crate) fn of(&self, node: usize) -> &[Interval] {
        &self.intervals[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Recorded calls of several nodes; ascending by start only within a node.
    pub(crate) fn of_all(&self, nodes: &[usize]) -> Vec<Interval> {
        nodes.iter().flat_map(|node| self.of(*node)).copied().collect()
    }

    /// Calls of a node that are counted in its totals but were not recorded one by one.
    pub(crate) fn n_missing(&self, node: usize) -> u64 {
        self.missing[node]
    }

    /// Every call of these nodes was recorded individually.
    pub(crate) fn is_complete(&self, nodes: &[usize]) -> bool {
        nodes.iter().all(|node| self.missing[*node] == 0)
    }

    /// Some of the recorded calls of the node belong to an asyncio task.
    pub(crate) fn has_tasks(&self, node: usize) -> bool {
        self.has_tasks[node]
    }

    /// The only thread of which records of this node are known.
    pub(crate) fn only_thread(&self, node: usize) -> Option<u32> {
        match self.threads[node] {
            ThreadUse::One(thread) => Some(thread),
            ThreadUse::None | ThreadUse::Several => None,
        }
    }
}
