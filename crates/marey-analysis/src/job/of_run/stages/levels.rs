//! Which sections say what a process did when.

use marey::{NodeKind, Run};

use super::Known;

/// How a call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// As what the process works on.
    Stage,
    /// As communication.
    Communication,
}

/// Which calls are shown, by node. Collectives are, wherever they lie. Of other sections the outermost are; but one that is nearly all of
/// the work says nothing, and shows what lies below it, if that is more than little, and itself only where that leaves room. Work is time
/// without communication, so that ranks that wait are shown like ranks that do not. Loops are passed over; where there are no sections,
/// their iterations are shown.
///
/// ```text
/// denoise        |-------------------------------|           94 of 100
///   attention    |---------|     |---------|
///   mlp                    |-----|         |-----|
/// decode                                         |--|
/// shown          |attention|-mlp-|attention|-mlp-|de|
/// ```
///
/// Of calls of one thread: node, begin and end. `None` of nodes whose calls are not shown.
pub(super) fn levels(
    run: &Run,
    known: &Known<'_>,
    calls: impl Iterator<Item = (u32, u64, u64)>,
) -> Vec<Option<Shown>> {
    let times = Times::of(run, known, calls);
    let work_ns = times.below.first().copied().unwrap_or(0);
    let mut shown = vec![None; run.nodes.len()];
    // Whose children are shown, and who is within a collective.
    let mut is_open = vec![true; run.nodes.len()];
    let mut is_within = vec![false; run.nodes.len()];
    for (node, parent) in parents(run) {
        let is_iteration = run.nodes[node].kind == NodeKind::Iteration;
        let is_reached = is_open[parent];
        is_within[node] = is_within[parent];
        is_open[node] = is_reached;
        if known.name(node).is_some() {
            shown[node] = (!is_within[node]).then_some(Shown::Communication);
            is_within[node] = true;
            is_open[node] = false;
        } else if is_iteration {
            let is_shown = work_ns == 0 && is_reached;
            shown[node] = is_shown.then_some(Shown::Stage);
            is_open[node] = is_reached && !is_shown;
        } else if is_reached {
            let (own_ns, below_ns) = (times.work_ns(node), times.below[node]);
            let left_ns = own_ns.saturating_sub(below_ns);
            let is_opened = is_nearly_all(own_ns, work_ns) && !is_little(below_ns, own_ns);
            let is_shown = !is_opened || !is_little(left_ns, own_ns);
            shown[node] = is_shown.then_some(Shown::Stage);
            is_open[node] = is_opened;
        }
    }
    shown
}

/// At least nine tenths.
fn is_nearly_all(part: u64, all: u64) -> bool {
    all > 0 && u128::from(part) * 10 >= u128::from(all) * 9
}

/// Less than a tenth.
fn is_little(part: u64, all: u64) -> bool {
    u128::from(part) * 10 < u128::from(all)
}

/// Nodes with their parents, which come before them; the root is none.
fn parents(run: &Run) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    let parent = |node: usize| run.nodes[node].parent.map(|parent| parent as usize);
    let parents = (1..run.nodes.len()).map(move |node| Some((node, parent(node)?)));
    parents.flatten().filter(|(node, parent)| parent < node)
}

/// Time of nodes in nanoseconds.
struct Times {
    /// All calls of a node.
    all: Vec<u64>,
    /// Collectives in them.
    communication: Vec<u64>,
    /// Work of the sections that are next below.
    below: Vec<u64>,
}

impl Times {
    fn of(run: &Run, known: &Known<'_>, calls: impl Iterator<Item = (u32, u64, u64)>) -> Self {
        let nothing = vec![0_u64; run.nodes.len()];
        let mut times =
            Self { all: nothing.clone(), communication: nothing.clone(), below: nothing };
        for (node, start_ns, end_ns) in calls {
            if let Some(all) = times.all.get_mut(node as usize) {
                *all = all.saturating_add(end_ns.saturating_sub(start_ns));
            }
        }
        for (node, parent) in parents(run).rev() {
            let (communication_ns, below_ns) = if known.name(node).is_some() {
                (times.all[node], 0)
            } else if run.nodes[node].kind == NodeKind::Iteration {
                (times.communication[node], times.below[node])
            } else {
                (times.communication[node], times.work_ns(node))
            };
            let add = |to: &mut u64, ns| *to = to.saturating_add(ns);
            add(&mut times.communication[parent], communication_ns);
            add(&mut times.below[parent], below_ns);
        }
        times
    }

    /// Without collectives.
    fn work_ns(&self, node: usize) -> u64 {
        self.all[node].saturating_sub(self.communication[node])
    }
}
