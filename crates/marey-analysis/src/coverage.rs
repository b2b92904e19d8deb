//! How much of the wall time is under given call paths, each moment counted once.

use marey::{OpenSection, Run};

use crate::intervals::{Interval, not_within, union};
use crate::records::Records;
use crate::stats::ratio;

/// Answers for one run; sections that are still open reach to its end.
pub(crate) struct Coverage<'a> {
    run: &'a Run,
    records: &'a Records,
    open: Vec<Vec<OpenSection>>,
    /// The node or one of its ancestors runs beside its parent.
    is_beside: Vec<bool>,
}

impl<'a> Coverage<'a> {
    pub(crate) fn new(run: &'a Run, records: &'a Records) -> Self {
        let mut open = vec![Vec::new(); run.nodes.len()];
        for section in &run.open {
            if let Some(of_node) = open.get_mut(section.node as usize) {
                of_node.push(*section);
            }
        }
        let mut is_beside = vec![false; run.nodes.len()];
        for (id, node) in run.nodes.iter().enumerate() {
            let parent = node.parent.map_or(0, |p| p as usize);
            is_beside[id] = node.is_detached || is_beside[parent];
        }
        Self { run, records, open, is_beside }
    }

    /// Sections of this node that were open when the capture ended.
    pub(crate) fn open(&self, node: usize) -> &[OpenSection] {
        &self.open[node]
    }

    /// Time so far of the open sections of this node, all together.
    pub(crate) fn open_ns(&self, node: usize) -> u64 {
        self.open[node].iter().map(|open| open.end_ns(self.run.wall_ns) - open.start_ns).sum()
    }

    /// Completed and open time of this node, every call counted.
    pub(crate) fn inclusive_ns(&self, node: usize) -> u64 {
        self.run.totals[node].sum_ns.saturating_add(self.open_ns(node))
    }

    /// Time of each node that is under none of its children. `None` where these took longer than the node itself: a child
    /// outlived its parent, or children of one call ran in several threads.
    pub(crate) fn self_ns(&self) -> Vec<Option<u64>> {
        let n_nodes = self.run.nodes.len();
        let mut within_ns = vec![0u64; n_nodes];
        for (id, node) in self.run.nodes.iter().enumerate().skip(1) {
            if let (false, Some(parent)) = (node.is_detached, node.parent) {
                let of_parent = &mut within_ns[parent as usize];
                *of_parent = of_parent.saturating_add(self.inclusive_ns(id));
            }
        }
        // Of a session, what is around may be none of it: a call path without calls has no time of its own.
        let is_used = |node: usize| {
            self.run.totals.get(node).is_some_and(|t| t.count > 0) || !self.open[node].is_empty()
        };
        (0..n_nodes)
            .map(|node| {
                if !is_used(node) {
                    return Some(0);
                }
                self.inclusive_ns(node).checked_sub(within_ns[node])
            })
            .collect()
    }

    /// Share of the wall time during which at least one of the nodes was open, 0 to 1. `None` when the wall time is 0
    /// or records are missing and the calls may have overlapped.
    pub(crate) fn share_ratio(&self, nodes: &[usize]) -> Option<f64> {
        let covered = self.covered_ns(nodes)?;
        (self.run.wall_ns > 0).then(|| ratio(covered.into(), self.run.wall_ns.into()))
    }

    /// Wall time during which at least one of the nodes was open; absent as [`Self::share_ratio`].
    pub(crate) fn covered_ns(&self, nodes: &[usize]) -> Option<u64> {
        if self.records.is_complete(nodes) {
            let covered = union(self.intervals(nodes));
            return Some(covered.iter().map(Interval::length_ns).sum());
        }
        self.sum_of_disjoint_ns(nodes)
    }

    /// Wall time under any section at all; absent as [`Self::share_ratio`].
    ///
    /// Sections lie within those at the top level, except what runs beside its parent (tasks, generators) and may
    /// outlive it.
    pub(crate) fn covered_by_any_ns(&self) -> Option<u64> {
        let is_cover = |node: &usize| {
            let kept = &self.run.nodes[*node];
            kept.parent == Some(0) || kept.is_detached
        };
        let all = 1..self.run.nodes.len();
        let (cover, within): (Vec<usize>, Vec<usize>) = all.partition(is_cover);
        if !self.records.is_complete(&cover) {
            return self.sum_of_disjoint_ns(&cover);
        }
        let covered = union(self.intervals(&cover));
        let mut all: Vec<Interval> = Vec::new();
        for node in within {
            let open = self.open_intervals(node);
            all.extend(not_within(self.records.of(node), &covered));
            all.extend(open);
        }
        all = all.into_iter().map(|i| i.clipped(self.run.wall_ns)).collect();
        all.extend(covered);
        Some(union(all).iter().map(Interval::length_ns).sum())
    }

    fn intervals(&self, nodes: &[usize]) -> Vec<Interval> {
        let mut intervals = self.records.of_all(nodes);
        intervals.extend(nodes.iter().flat_map(|node| self.open_intervals(*node)));
        for interval in &mut intervals {
            *interval = interval.clipped(self.run.wall_ns);
        }
        intervals
    }

    fn open_intervals(&self, node: usize) -> impl Iterator<Item = Interval> + '_ {
        self.open[node]
            .iter()
            .map(|open| Interval { start_ns: open.start_ns, end_ns: open.end_ns(self.run.wall_ns) })
    }

    /// The sum of all calls where it is certain that no two of them overlapped: one thread, no tasks.
    fn sum_of_disjoint_ns(&self, nodes: &[usize]) -> Option<u64> {
        let mut thread = None;
        let mut sum_ns = 0u64;
        let used = nodes
            .iter()
            .filter(|node| self.inclusive_ns(**node) > 0 || self.run.totals[**node].count > 0);
        for &node in used {
            if self.is_beside[node] || self.records.has_tasks(node) {
                return None;
            }
            let of_node = self.thread_of(node)?;
            if *thread.get_or_insert(of_node) != of_node {
                return None;
            }
            if !self.has_ancestor_among(node, nodes) {
                sum_ns = sum_ns.checked_add(self.inclusive_ns(node))?;
            }
        }
        // More than the wall time would prove that they did overlap.
        (sum_ns <= self.run.wall_ns).then_some(sum_ns)
    }

    /// The thread in which all calls of the node ran.
    fn thread_of(&self, node: usize) -> Option<Lane> {
        let n_threads = self.run.totals[node].n_threads;
        let completed = match (n_threads, self.records.only_thread(node)) {
            (0, _) => None,
            (1, Some(thread)) => Some(Lane::Thread(thread)),
            (1, None) if self.run.threads.len() <= 1 => Some(Lane::Thread(0)),
            // One thread, but not known which: nothing else can be compared with it.
            (1, None) => Some(Lane::OnlyOf(node)),
            _ => return None,
        };
        let mut lanes = completed.into_iter().chain(
            self.open[node].iter().map(|o| o.thread.map_or(Lane::OnlyOf(usize::MAX), Lane::Thread)),
        );
        let first = lanes.next()?;
        lanes.all(|lane| lane == first).then_some(first)
    }

    fn has_ancestor_among(&self, node: usize, nodes: &[usize]) -> bool {
        let parent = |id: usize| self.run.nodes[id].parent.map(|p| p as usize);
        std::iter::successors(parent(node), |id| parent(*id)).any(|id| nodes.contains(&id))
    }
}

/// Where calls follow one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    Thread(u32),
    OnlyOf(usize),
}

#[cfg(test)]
mod tests {
    use marey_testing::RunBuilder;

    use crate::sections;

    #[test]
    fn self_time_is_not_known_where_a_child_outlives_its_parent() {
        // time    0         10        20
        //         |- serve -|
        //             |--- stream ---|       12, of which 6 after its parent
        let outlived = RunBuilder::new()
            .section("serve", 0, 10, |s| {
                s.section("stream", 4, 16, |_| {});
            })
            .finish(20);
        let found = sections(&outlived);
        assert_eq!(found.tree[0].self_ns, None);
        assert_eq!(found.tree[1].self_ns, Some(12));
        let filled = RunBuilder::new()
            .section("serve", 0, 10, |s| {
                s.section("stream", 0, 10, |_| {});
            })
            .finish(20);
        assert_eq!(sections(&filled).tree[0].self_ns, Some(0));
    }
}
