//! Calls that an object of Python keeps for tables of its own, as the run that they would be.

use marey::{Histogram, Node, NodeKind, NodeTotals, Run, Section, Status, Thread};

/// The calls of one name.
pub(crate) struct OwnCalls {
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    pub(crate) totals: NodeTotals,
    /// Those that were kept one by one; their nodes are given by [`run_of`].
    pub(crate) sections: Vec<Section>,
}

/// Counts a call, in whatever unit of time.
pub(crate) fn add_call(totals: &mut NodeTotals, duration: u64, is_failed: bool) {
    if totals.count == 0 {
        (totals.min_ns, totals.first_ns, totals.n_threads) = (duration, duration, 1);
    }
    totals.count += 1;
    totals.sum_ns = totals.sum_ns.saturating_add(duration);
    totals.min_ns = totals.min_ns.min(duration);
    totals.max_ns = totals.max_ns.max(duration);
    totals.last_ns = duration;
    totals.errors += u64::from(is_failed);
    totals.histogram.get_or_insert_with(Histogram::default).add(duration);
}

/// A run of one thread, in which each name is at the top.
pub(crate) fn run_of(names: impl IntoIterator<Item = OwnCalls>) -> Run {
    let node = |parent, name, kind| Node { parent, name, kind, is_detached: false };
    let mut run = Run {
        nodes: vec![node(None, String::new(), NodeKind::Section)],
        totals: vec![NodeTotals::default()],
        threads: vec![Thread::default()],
        status: Status::Running,
        ..Run::default()
    };
    for (number, calls) in (1..).zip(names) {
        run.nodes.push(node(Some(0), calls.name, calls.kind));
        run.totals.push(calls.totals);
        let sections = calls.sections.into_iter();
        run.sections.extend(sections.map(|section| Section { node: number, ..section }));
    }
    run
}
