//! When did what go on, and how much of it was preparation?
//!
//! ```text
//! time       0         10        20        30        40
//! load       |-----|                                        load, span 0 to 6
//!   weights   |--|                                          load, as what it is under
//! generate          |--------------------------------|      work, span 7 to 40
//!   compile         |---|                                   compile, span 7 to 11
//!   step                |---|   |---|   |---|   |---|       work, span 11 to 39, busy 16/28
//!
//! load 6, compile 4, work 33 − 4 = 29
//! ```

use std::collections::BTreeMap;

use marey::{Run, profiling_config::Preparation};
use serde::Serialize;

use crate::coverage::Coverage;
use crate::intervals::Interval;
use crate::records::Records;
use crate::stats::float;

/// Call paths that begin at the top, or one below it.
const MAX_DEPTH: u32 = 1;

/// The stages of a run over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phases {
    /// Call paths of the first two levels, parents before their children, in the order of their starts.
    pub each: Vec<Phase>,
    /// Time of each purpose; only those that occur, in the order of [`Purpose`].
    pub purposes: Vec<PurposeTime>,
}

/// One call path over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Index into `Run::nodes`; it has a row in [`Sections::tree`](crate::Sections).
    pub node: u32,
    /// `node` of the phase that it is under; `None` at the top level.
    pub parent: Option<u32>,
    /// What it is for, by its name; otherwise what its parent is for.
    pub purpose: Purpose,
    /// From the start of the first call to the end of the last one, or of the run while calls were open. `None` when no call was
    /// recorded one by one.
    pub span: Option<Interval>,
    /// Every call was recorded one by one; otherwise it may have begun earlier and ended later.
    pub is_span_exact: bool,
    /// Share of the span during which at least one call was open, 0 to 1; `None` where that is not known.
    pub busy_ratio: Option<f64>,
}

/// What a phase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Models and whatever else are fetched, set up or moved.
    Load,
    /// Code is made for the machine.
    Compile,
    /// Work is done once in vain, so that later work is steady.
    WarmUp,
    /// Everything else.
    Work,
}

/// Wall time of one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PurposeTime {
    /// Which one.
    pub purpose: Purpose,
    /// Time during which something of it was open, at any depth, each moment counted once; work without the preparation that it
    /// holds. `None` where that is not known.
    pub covered_ns: Option<u64>,
    /// The same as a share of the wall time, 0 to 1.
    pub ratio: Option<f64>,
}

/// The phases of a run. Time: one sort of the records at the first two levels and of preparation.
pub fn phases(run: &Run) -> Phases {
    let described = Described::new(run);
    let is_wanted = |node: usize| {
        let is_high = described.depths[node].is_some_and(|depth| depth <= MAX_DEPTH);
        is_high || described.own[node].is_some()
    };
    let records = Records::new(run, is_wanted);
    let coverage = Coverage::new(run, &records);
    let is_used = |node: usize| run.totals[node].count > 0 || !coverage.open(node).is_empty();
    let phase = |node: usize| Phase::new(run, node, &described, &records, &coverage);
    let each = (1..run.nodes.len())
        .filter(|node| described.depths[*node].is_some_and(|depth| depth <= MAX_DEPTH))
        .filter(|node| is_used(*node))
        .map(phase)
        .collect();
    Phases {
        each: in_order(each),
        purposes: purposes(run, &described, &coverage, is_used),
    }
}

/// What is known of each node by its name and place.
struct Described {
    /// 0 at the top level; `None` for the root.
    depths: Vec<Option<u32>>,
    /// By its own name.
    own: Vec<Option<Preparation>>,
    /// By its own name, else as its parent.
    purposes: Vec<Purpose>,
}

impl Described {
    fn new(run: &Run) -> Self {
        let n_nodes = run.nodes.len();
        let mut found = Self {
            depths: vec![None; n_nodes],
            own: vec![None; n_nodes],
            purposes: vec![Purpose::Work; n_nodes],
        };
        for (id, node) in run.nodes.iter().enumerate().skip(1) {
            let parent = node.parent.map_or(0, |parent| parent as usize);
            found.depths[id] =
                Some(found.depths[parent].map_or(0, |depth| depth.saturating_add(1)));
            found.own[id] = Preparation::of(&node.name);
            found.purposes[id] = found.own[id].map_or(found.purposes[parent], Purpose::from);
        }
        found
    }
}

impl Phase {
    fn new(
        run: &Run,
        node: usize,
        described: &Described,
        records: &Records,
        coverage: &Coverage<'_>,
    ) -> Self {
        let span = span(run, records.of(node), coverage, node);
        let length_ns = span.map_or(0, |span| span.length_ns());
        let covered_ns = coverage.covered_ns(&[node]).filter(|_| length_ns > 0);
        Self {
            node: u32::try_from(node).unwrap_or(u32::MAX),
            parent: run.nodes[node].parent.filter(|parent| *parent > 0),
            purpose: described.purposes[node],
            span,
            is_span_exact: records.is_complete(&[node]),
            busy_ratio: covered_ns
                .filter(|_| records.is_complete(&[node]))
                .map(|covered_ns| (float(covered_ns) / float(length_ns)).min(1.0)),
        }
    }
}

/// From the first start to the last end of all calls.
fn span(
    run: &Run,
    recorded: &[Interval],
    coverage: &Coverage<'_>,
    node: usize,
) -> Option<Interval> {
    let open = coverage.open(node);
    let first = recorded.first().map(|call| call.start_ns);
    let start_ns = open.iter().map(|open| open.start_ns).chain(first).min()?;
    let last = recorded.iter().map(|call| call.end_ns).max();
    let until = (!open.is_empty()).then_some(run.wall_ns);
    let end_ns = last.max(until).unwrap_or(start_ns).max(start_ns);
    Some(Interval { start_ns, end_ns })
}

/// Parents before their children, by start; what has no start stands last.
fn in_order(each: Vec<Phase>) -> Vec<Phase> {
    let key = |phase: &Phase| {
        (
            phase.span.map_or(u64::MAX, |span| span.start_ns),
            phase.node,
        )
    };
    let (mut top, below): (Vec<Phase>, Vec<Phase>) =
        each.into_iter().partition(|phase| phase.parent.is_none());
    let mut children: BTreeMap<Option<u32>, Vec<Phase>> = BTreeMap::new();
    for phase in below {
        children.entry(phase.parent).or_default().push(phase);
    }
    top.sort_by_key(key);
    let with_children = top.into_iter().flat_map(|phase| {
        let mut under = children.remove(&Some(phase.node)).unwrap_or_default();
        under.sort_by_key(key);
        std::iter::once(phase).chain(under)
    });
    with_children.collect()
}

fn purposes(
    run: &Run,
    described: &Described,
    coverage: &Coverage<'_>,
    is_used: impl Fn(usize) -> bool,
) -> Vec<PurposeTime> {
    let used: Vec<usize> = (1..run.nodes.len()).filter(|node| is_used(*node)).collect();
    let of = |is_meant: &dyn Fn(usize) -> bool| -> Vec<usize> {
        used.iter()
            .copied()
            .filter(|node| is_meant(*node))
            .collect()
    };
    let preparing = of(&|node| described.own[node].is_some());
    let mut found: Vec<(Purpose, Option<u64>)> = Vec::new();
    for preparation in [Preparation::Load, Preparation::Compile, Preparation::WarmUp] {
        let nodes = of(&|node| described.own[node] == Some(preparation));
        if !nodes.is_empty() {
            found.push((preparation.into(), coverage.covered_ns(&nodes)));
        }
    }
    if used
        .iter()
        .any(|node| described.purposes[*node] == Purpose::Work)
    {
        let all = of(&|node| described.depths[node] == Some(0) || described.own[node].is_some());
        let (all_ns, preparing_ns) = (coverage.covered_ns(&all), coverage.covered_ns(&preparing));
        let work_ns = all_ns
            .zip(preparing_ns)
            .map(|(all, part)| all.saturating_sub(part));
        found.push((Purpose::Work, work_ns));
    }
    let of_wall = |ns: u64| (run.wall_ns > 0).then(|| (float(ns) / float(run.wall_ns)).min(1.0));
    found
        .into_iter()
        .map(|(purpose, covered_ns)| PurposeTime {
            purpose,
            covered_ns,
            ratio: covered_ns.and_then(of_wall),
        })
        .collect()
}

impl From<Preparation> for Purpose {
    fn from(preparation: Preparation) -> Self {
        match preparation {
            Preparation::Load => Self::Load,
            Preparation::Compile => Self::Compile,
            Preparation::WarmUp => Self::WarmUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey::RunBuilder;

    const fn span(start_ns: u64, end_ns: u64) -> Interval {
        Interval { start_ns, end_ns }
    }

    /// The drawing above.
    fn drawn() -> Run {
        RunBuilder::new()
            .section("load", 0, 6, |s| {
                s.section("weights", 1, 4, |_| {});
            })
            .section("generate", 7, 40, |s| {
                s.section("compile", 7, 11, |_| {});
                for start in [11, 19, 27, 35] {
                    s.iteration("step", start, start + 4, |s| {
                        s.section("attention", start, start + 1, |_| {});
                    });
                }
            })
            .finish(40)
    }

    #[test]
    fn phases_stand_in_the_order_of_their_starts_with_what_is_under_them() {
        let run = drawn();
        let found = phases(&run);
        let shown: Vec<_> = found
            .each
            .iter()
            .map(|p| (run.nodes[p.node as usize].name.as_str(), p.purpose, p.span))
            .collect();
        let expected = [
            ("load", Purpose::Load, Some(span(0, 6))),
            ("weights", Purpose::Load, Some(span(1, 4))),
            ("generate", Purpose::Work, Some(span(7, 40))),
            ("compile", Purpose::Compile, Some(span(7, 11))),
            ("step", Purpose::Work, Some(span(11, 39))),
        ];
        assert_eq!(shown, expected);
        assert_eq!(found.each[4].busy_ratio, Some(16.0 / 28.0));
        assert!(found.each.iter().all(|phase| phase.is_span_exact));
    }

    #[test]
    fn work_is_counted_without_the_preparation_within() {
        let times: Vec<_> = phases(&drawn())
            .purposes
            .iter()
            .map(|p| (p.purpose, p.covered_ns, p.ratio))
            .collect();
        let expected = [
            (Purpose::Load, Some(6), Some(6.0 / 40.0)),
            (Purpose::Compile, Some(4), Some(4.0 / 40.0)),
            (Purpose::Work, Some(29), Some(29.0 / 40.0)),
        ];
        assert_eq!(times, expected);
    }

    #[test]
    fn a_phase_that_is_open_lasts_until_the_end() {
        // generate |------ open
        let mut run = RunBuilder::new()
            .section("generate", 5, 9, |_| {})
            .finish(20);
        run.open.push(marey::OpenSection {
            thread: Some(0),
            node: 1,
            start_ns: 12,
        });
        let found = phases(&run);
        assert_eq!(found.each[0].span, Some(span(5, 20)));
        assert_eq!(found.each[0].busy_ratio, Some(12.0 / 15.0));
    }

    #[test]
    fn calls_that_were_not_recorded_leave_a_span_that_may_be_longer() {
        let mut run = RunBuilder::new()
            .section("generate", 5, 9, |_| {})
            .section("generate", 11, 15, |_| {})
            .finish(20);
        run.sections.truncate(1);
        let found = phases(&run);
        let phase = &found.each[0];
        assert_eq!((phase.span, phase.is_span_exact), (Some(span(5, 9)), false));
        assert_eq!(phase.busy_ratio, None);
        run.sections.clear();
        assert_eq!(phases(&run).each[0].span, None);
    }

    #[test]
    fn an_empty_run_and_one_of_no_length_have_no_shares() {
        assert_eq!(phases(&RunBuilder::new().finish(0)), Phases::default());
        let found = phases(&RunBuilder::new().section("load", 0, 0, |_| {}).finish(0));
        assert_eq!(found.each[0].busy_ratio, None);
        assert_eq!(found.purposes[0].ratio, None);
    }
}
