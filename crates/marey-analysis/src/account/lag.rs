//! What the device has still to do of a section that the host has left.
//!
//! ```text
//! host       |step 0|step 1|decode|-----------copy-----------|
//! device        |---- step 0 ----|---- step 1 ----|-- decode --|
//! lag               |step 0------|                                   from where the host left it
//!                          |step 1 ---------------|
//!                                 |decode --------------------|
//! held       |step 0-------------|step 1----------|decode------|
//! ```
//!
//! Of what lags at the same moment the device is in what began last on it: it is the innermost.

use std::collections::{BTreeSet, HashMap};

use marey::Run;

use crate::questions::gpu_times::place;

/// A flow is in another innermost section from here on; 0 is none.
#[derive(Clone, Copy)]
pub(super) struct Entered {
    pub at_ns: u64,
    pub node: u32,
}

/// Work of a section on a device after the host left the section.
#[derive(Clone, Copy)]
pub(super) struct Lag {
    /// When the work began.
    begun_ns: u64,
    from_ns: u64,
    until_ns: u64,
    node: u32,
}

/// What lags, by thread and flow. Work of which it is not known when it ran is left out.
pub(super) fn lags(run: &Run, is_looked_at: impl Fn(u32) -> bool) -> HashMap<(u32, u16), Vec<Lag>> {
    let mut lags: HashMap<(u32, u16), Vec<Lag>> = HashMap::new();
    if run.gpu_spans.iter().all(|span| span.delay_ns.is_none()) {
        return lags;
    }
    let sections = run.sections.iter().filter(|section| !section.has_pauses);
    let left: HashMap<(u32, u32, u64), (u16, u64)> =
        sections.map(|s| ((s.thread, s.node, s.start_ns), (s.flow, s.end_ns))).collect();
    for span in run.gpu_spans.iter().filter(|span| is_looked_at(span.node)) {
        let of = (span.thread, span.node, span.start_ns);
        let (Some(work), Some((flow, left_ns))) = (place(span), left.get(&of)) else {
            continue;
        };
        let lag = Lag {
            begun_ns: work.start_ns,
            from_ns: work.start_ns.max(*left_ns),
            until_ns: work.end_ns.min(run.wall_ns),
            node: span.node,
        };
        if lag.from_ns < lag.until_ns {
            lags.entry((span.thread, *flow)).or_default().push(lag);
        }
    }
    lags
}

/// In what a flow is, or else the device for it: `entered` are the sections of the host, in order of time.
pub(super) fn with_lags(entered: &[Entered], lags: &[Lag]) -> Vec<Entered> {
    enum Of {
        Host(u32),
        Begins(usize),
        Ends(usize),
    }
    let host = entered.iter().map(|each| (each.at_ns, Of::Host(each.node)));
    let begun = (0..).zip(lags).map(|(at, lag)| (lag.from_ns, Of::Begins(at)));
    let ended = (0..).zip(lags).map(|(at, lag)| (lag.until_ns, Of::Ends(at)));
    let mut all: Vec<(u64, Of)> = host.chain(begun).chain(ended).collect();
    all.sort_by_key(|(at_ns, _)| *at_ns);
    let mut open: BTreeSet<(u64, usize)> = BTreeSet::new();
    let (mut in_host, mut last) = (0, 0);
    let mut found = Vec::with_capacity(all.len());
    for (at_ns, of) in all {
        match of {
            Of::Host(node) => in_host = node,
            Of::Begins(at) => _ = open.insert((lags[at].begun_ns, at)),
            Of::Ends(at) => _ = open.remove(&(lags[at].begun_ns, at)),
        }
        let innermost = open.last().map(|(_, at)| lags[*at].node);
        let node = innermost.unwrap_or(in_host);
        if node != last {
            found.push(Entered { at_ns, node });
            last = node;
        }
    }
    found
}
