//! Calls that an object of Python keeps for tables of its own, as the run that they would be.

use marey::{Histogram, Node, NodeKind, NodeTotals, Recorder, Run, Section, Status, Thread};

/// The calls of one name: all times are nanoseconds, or all are ticks.
#[derive(Default)]
pub(crate) struct OwnCalls {
    pub(crate) totals: NodeTotals,
    /// Start, duration, and whether it failed, of the first ones.
    pub(crate) each: Vec<(u64, u64, bool)>,
}

impl OwnCalls {
    /// Adds a call, which is kept by itself if it is among the first `most`.
    pub(crate) fn add(&mut self, start: u64, duration: u64, is_failed: bool, most: u64) {
        let totals = &mut self.totals;
        if totals.count < most {
            self.each.push((start, duration, is_failed));
        }
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
}

/// A run of one thread, in which each name is at the top. Times are ticks of the recorder, if one is given.
pub(crate) fn run_of<'a>(
    names: impl IntoIterator<Item = (&'a String, &'a OwnCalls)>,
    kind: NodeKind,
    clock: Option<&Recorder>,
) -> Run {
    let ns = |time: u64| clock.map_or(time, |clock| clock.duration_ns(time));
    let node = |parent, name, kind| Node { parent, name, kind, is_detached: false };
    let mut run = Run {
        nodes: vec![node(None, String::new(), NodeKind::Section)],
        totals: vec![NodeTotals::default()],
        threads: vec![Thread::default()],
        status: Status::Running,
        ..Run::default()
    };
    for (number, (name, OwnCalls { totals, each })) in (1..).zip(names) {
        run.nodes.push(node(Some(0), name.clone(), kind));
        let histogram = totals.histogram.as_ref();
        run.totals.push(NodeTotals {
            sum_ns: ns(totals.sum_ns),
            min_ns: ns(totals.min_ns),
            max_ns: ns(totals.max_ns),
            first_ns: ns(totals.first_ns),
            last_ns: ns(totals.last_ns),
            histogram: histogram.map(|times| match clock {
                Some(clock) => times.in_unit(clock.tick_ns()),
                None => times.clone(),
            }),
            ..*totals
        });
        let origin = each.iter().map(|(start, ..)| *start).min().unwrap_or(0);
        let section = |(start, duration, is_failed): &(u64, u64, bool)| {
            let start_ns = ns(start - origin);
            let end_ns = start_ns.saturating_add(ns(*duration));
            Section { node: number, start_ns, end_ns, is_failed: *is_failed, ..Section::default() }
        };
        let mut sections: Vec<Section> = each.iter().map(section).collect();
        sections.sort_by_key(|section| section.end_ns);
        run.sections.append(&mut sections);
    }
    run
}
