//! What a process is doing at one moment.

use std::sync::Arc;

use crate::generation::{Generated, ReportTimes};
use crate::histogram::quantile_ranks;
use crate::run::{Losses, Node, NodeKind, Status};
use crate::series::SeriesInfo;

/// What a process is doing at one moment. Times are nanoseconds since the start of its recording.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveState {
    /// When: for a process that is over, the last thing known of it.
    pub at_ns: u64,
    /// [`Status::Running`], or how it ended.
    pub status: Status,
    /// Whether the process lives; `None` when this machine cannot tell. It may live on when its recording has ended.
    pub is_alive: Option<bool>,
    /// Call paths so far; a node's number is its index.
    pub nodes: Arc<[Node]>,
    /// Nodes with at least one completed call, by number, all threads together.
    pub totals: Vec<Totals>,
    /// Sections that are open, by start.
    pub open: Vec<OpenNow>,
    /// What samplers read last, in their order.
    pub series: Vec<Reading>,
    /// What the program reported about its own work, counted.
    pub generated: Generated,
    /// When it made its newest reports.
    pub report_times: ReportTimes,
    /// Lookups of caches that the program has reported so far as hits, and as misses; of all caches together. 0 before the first.
    pub cache_hits: u64,
    /// See [`Self::cache_hits`].
    pub cache_misses: u64,
    /// Number of the denoising step that the program reported last, as it gave it; of loops that run at the same time, of whichever
    /// reported last. `None` before the first, and when that one had no number.
    pub step: Option<u64>,
    /// How many denoising steps of its schedule the program has made, and of how many; `None` while that is not known.
    pub schedule: Option<(u64, u64)>,
    /// What was not recorded so far.
    pub losses: Losses,
}

/// A section that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenNow {
    /// Its node.
    pub node: u32,
    /// Number of the lane of its thread. A lane belongs to one thread at a time.
    pub lane: u32,
    /// 0 for the thread's own stack; otherwise the asyncio task that it was opened in.
    pub flow: u32,
    /// Since when.
    pub start_ns: u64,
}

/// Figures of a node so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The node.
    pub node: u32,
    /// Completed calls.
    pub count: u64,
    /// Those of them that were left by an error.
    pub errors: u64,
    /// Time in them.
    pub sum_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The one that ended last.
    pub last_ns: u64,
    /// When that was.
    pub last_end_ns: u64,
    /// The newest iterations, for an iteration; `None` for a section, and when no single iterations were seen.
    pub iterations: Option<Iterations>,
}

/// Durations of the newest iterations of a loop that were seen one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Iterations {
    /// In the order in which they ended, at most 256.
    pub newest_ns: Vec<u64>,
    /// When the first of them ended; `None` when the last of them is not the one that ended last.
    pub first_end_ns: Option<u64>,
}

impl Totals {
    /// An earlier end of an iteration of this loop, and how many iterations have ended since; `None` where that is not known.
    pub fn turns_since(&self) -> Option<(u64, u64)> {
        let iterations = self.iterations.as_ref()?;
        let n_since = iterations.newest_ns.len().checked_sub(1).filter(|n| *n > 0)?;
        Some((iterations.first_end_ns?, n_since as u64))
    }
}

/// The latest reading of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What was read.
    pub info: SeriesInfo,
    /// The value, in the series' unit.
    pub value: f64,
    /// When it was read.
    pub at_ns: u64,
    /// How long ago that was.
    pub age_ns: u64,
}

impl LiveState {
    /// Names from the outermost section to that of a node; empty for one that there is not. Never safe to print as they are.
    pub fn path(&self, node: u32) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = Some(node);
        while let Some((number, node)) = at.and_then(|n| Some((n, self.nodes.get(n as usize)?))) {
            if number > 0 {
                names.push(node.name.as_str());
            }
            // A parent has a smaller number, also in damaged memory.
            at = node.parent.filter(|parent| *parent < number);
        }
        names.reverse();
        names
    }

    /// What a node counts; [`NodeKind::Section`] for one that there is not.
    pub fn kind(&self, node: u32) -> NodeKind {
        self.nodes.get(node as usize).map_or(NodeKind::Section, |node| node.kind)
    }

    /// The call path around a node, and whether the node runs beside that; `None` at the top level, and for a node that there is not.
    pub fn parent(&self, node: u32) -> (Option<u32>, bool) {
        let found = self.nodes.get(node as usize);
        let parent = found.and_then(|node| node.parent).filter(|parent| *parent > 0);
        (parent, found.is_some_and(|node| node.is_detached))
    }

    /// The loop that turned last; `None` without any.
    pub fn newest_loop(&self) -> Option<&Totals> {
        let loops = self.totals.iter();
        loops
            .filter(|totals| self.kind(totals.node) == NodeKind::Iteration)
            .max_by_key(|totals| (totals.last_end_ns, totals.count))
    }

    /// What the program's first thread that has anything open is in: the innermost section of its own stack. Another flow's
    /// when only those are open.
    pub fn phase(&self) -> Option<&OpenNow> {
        let first = self.open.iter().map(|open| (open.flow != 0, open.lane)).min()?;
        let is_its = |open: &&OpenNow| (open.flow != 0, open.lane) == first;
        self.open.iter().rfind(is_its)
    }

    /// Figures of a node; `None` before its first call has ended.
    pub fn totals_of(&self, node: u32) -> Option<&Totals> {
        let at = self.totals.binary_search_by_key(&node, |totals| totals.node).ok()?;
        self.totals.get(at)
    }

    /// It records, as far as is known.
    pub fn is_running(&self) -> bool {
        self.status == Status::Running
    }
}

impl Iterations {
    /// A quantile (0 to 1) of the durations, see [`crate::quantile_ranks`]; `None` without any.
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let mut sorted = self.newest_ns.clone();
        sorted.sort_unstable();
        let (lower, upper) = quantile_ranks(sorted.len() as u64, quantile);
        let ranked = |rank: u64| sorted.get(usize::try_from(rank).ok()? - 1).copied();
        Some(ranked(lower)?.midpoint(ranked(upper)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(parent: Option<u32>, name: &str, kind: NodeKind) -> Node {
        Node { parent, name: name.into(), kind, is_detached: false }
    }

    fn open(node: u32, lane: u32, flow: u32, start_ns: u64) -> OpenNow {
        OpenNow { node, lane, flow, start_ns }
    }

    /// root > block > step, and a node whose parent is itself.
    fn look() -> LiveState {
        let nodes = [
            node(None, "", NodeKind::Section),
            node(Some(0), "(other)", NodeKind::Section),
            node(Some(0), "block", NodeKind::Iteration),
            node(Some(2), "step", NodeKind::Iteration),
            node(Some(4), "circle", NodeKind::Section),
        ];
        LiveState { nodes: nodes.into(), ..LiveState::default() }
    }

    #[test]
    fn a_path_has_its_names_from_the_outside_in_and_a_circle_has_an_end() {
        let look = look();
        assert_eq!(look.path(3), ["block", "step"]);
        assert_eq!(look.path(0), [""; 0]);
        assert_eq!(look.path(4), ["circle"]);
        assert_eq!(look.path(99), [""; 0]);
    }

    #[test]
    fn the_phase_is_the_innermost_section_of_the_first_thread() {
        let mut look = look();
        assert_eq!(look.phase(), None);
        look.open =
            vec![open(2, 1, 0, 10), open(4, 0, 7, 20), open(3, 1, 0, 30), open(2, 2, 0, 40)];
        assert_eq!(look.phase(), Some(&open(3, 1, 0, 30)));
        look.open = vec![open(2, 3, 9, 10), open(3, 3, 9, 20), open(4, 3, 11, 30)];
        assert_eq!(look.phase(), Some(&open(4, 3, 11, 30)), "tasks of one thread");
    }

    #[test]
    fn quantiles_are_those_of_the_nearest_rank() {
        let iterations = Iterations { first_end_ns: None, newest_ns: vec![50, 10, 40, 20, 30] };
        // Ranks ⌈0.5 · 5⌉ = 3 and ⌈0.95 · 5⌉ = 5.
        assert_eq!(
            (iterations.quantile_ns(0.5), iterations.quantile_ns(0.95)),
            (Some(30), Some(50))
        );
        assert_eq!(iterations.quantile_ns(0.0), Some(10));
        let newest_ns = vec![10, 20];
        assert_eq!(Iterations { newest_ns, first_end_ns: None }.quantile_ns(0.5), Some(15));
        assert_eq!(Iterations::default().quantile_ns(0.5), None);
    }

    #[test]
    fn the_newest_loop_is_the_one_that_turned_last() {
        let totals =
            |node, last_end_ns| Totals { node, count: 1, last_end_ns, ..Totals::default() };
        let mut look = look();
        assert_eq!(look.newest_loop(), None);
        look.totals = vec![totals(2, 50), totals(3, 70), totals(4, 90)];
        assert_eq!(look.newest_loop().map(|t| t.node), Some(3), "a section is no loop");
        assert_eq!(look.totals_of(4).map(|t| t.last_end_ns), Some(90));
        assert_eq!(look.totals_of(1), None);
    }
}
