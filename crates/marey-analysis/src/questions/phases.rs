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

use std::collections::BTreeSet;

use marey::{Run, profiling_config::Preparation};
use serde::Serialize;

use super::sections::{SectionRow, Sections};
use crate::coverage::Coverage;
use crate::intervals::Interval;
use crate::records::Records;
use crate::stats::float;

/// The call paths of a run over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phases {
    /// Each row of [`Sections::tree`], in its order.
    pub each: Vec<Phase>,
    /// Time of each purpose; only those that occur, in the order of [`Purpose`].
    pub purposes: Vec<PurposeTime>,
}

/// One call path over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// What it is for, by its name; otherwise what its parent is for.
    pub purpose: Purpose,
    /// From the start of the first call to the end of the last one, or of the run while calls were open. `None` when no call was
    /// recorded one by one.
    pub span: Option<Interval>,
    /// Every call was recorded one by one; otherwise it may have begun earlier and ended later.
    pub is_span_exact: bool,
    /// Share of the span during which at least one call was open, 0 to 1; `None` where that or the span is not known exactly.
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

/// The phases of a run. Time: one look at each record, and a sort of those of preparation and of the top level.
pub fn phases(run: &Run, sections: &Sections) -> Phases {
    let spans = spans(run);
    let named = Named::new(run);
    let phase = |row: &SectionRow| Phase::new(row, run, &named, &spans);
    Phases {
        each: sections.tree.iter().map(phase).collect(),
        purposes: purposes(run, sections, &named),
    }
}

/// Of each node: from the first start to the last end of its calls, and how many of them were recorded one by one.
fn spans(run: &Run) -> Vec<(Option<Interval>, u64)> {
    let mut spans = vec![(None, 0_u64); run.nodes.len()];
    let mut widen = |node: u32, start_ns: u64, end_ns: u64, n_calls: u64| {
        let Some((span, n_recorded)) = spans.get_mut(node as usize) else {
            return;
        };
        let known: Interval = span.unwrap_or(Interval { start_ns, end_ns });
        *span = Some(Interval {
            start_ns: known.start_ns.min(start_ns),
            end_ns: known.end_ns.max(end_ns),
        });
        *n_recorded += n_calls;
    };
    for section in &run.sections {
        widen(section.node, section.start_ns, section.end_ns, 1);
    }
    for open in &run.open {
        widen(open.node, open.start_ns, run.wall_ns.max(open.start_ns), 0);
    }
    spans
}

/// What the name of each node says.
struct Named {
    /// By its own name.
    own: Vec<Option<Preparation>>,
    /// By its own name, else as its parent.
    purposes: Vec<Purpose>,
}

impl Named {
    fn new(run: &Run) -> Self {
        let mut named = Self {
            own: vec![None; run.nodes.len()],
            purposes: vec![Purpose::Work; run.nodes.len()],
        };
        for (id, node) in run.nodes.iter().enumerate().skip(1) {
            let parent = node.parent.map_or(0, |parent| parent as usize);
            named.own[id] = Preparation::of(&node.name);
            named.purposes[id] = named.own[id].map_or(named.purposes[parent], Purpose::from);
        }
        named
    }
}

impl Phase {
    fn new(row: &SectionRow, run: &Run, named: &Named, spans: &[(Option<Interval>, u64)]) -> Self {
        let (span, n_recorded) = spans[row.node as usize];
        let is_span_exact = n_recorded >= row.calls.count;
        let length_ns = span.map_or(0, |span| span.length_ns());
        let busy_ratio = row
            .share_of_wall_ratio
            .filter(|_| is_span_exact && length_ns > 0)
            .map(|share| (share * float(run.wall_ns) / float(length_ns)).min(1.0));
        Self {
            node: row.node,
            purpose: named.purposes[row.node as usize],
            span,
            is_span_exact,
            busy_ratio,
        }
    }
}

fn purposes(run: &Run, sections: &Sections, named: &Named) -> Vec<PurposeTime> {
    let used: BTreeSet<usize> = sections.tree.iter().map(|row| row.node as usize).collect();
    let is_top = |node: usize| run.nodes[node].parent == Some(0);
    let is_wanted = |node: usize| is_top(node) || named.own[node].is_some();
    let records = Records::new(run, |node| node > 0 && is_wanted(node));
    let coverage = Coverage::new(run, &records);
    let covered_ns = |is_meant: &dyn Fn(usize) -> bool| {
        let nodes: Vec<usize> = used
            .iter()
            .copied()
            .filter(|node| is_meant(*node))
            .collect();
        coverage.covered_ns(&nodes)
    };
    let mut found: Vec<(Purpose, Option<u64>)> = Vec::new();
    for preparation in [Preparation::Load, Preparation::Compile, Preparation::WarmUp] {
        let is_meant = |node: usize| named.own[node] == Some(preparation);
        if used.iter().any(|node| is_meant(*node)) {
            found.push((preparation.into(), covered_ns(&is_meant)));
        }
    }
    if used
        .iter()
        .any(|node| named.purposes[*node] == Purpose::Work)
    {
        let all_ns = covered_ns(&is_wanted);
        let preparing_ns = covered_ns(&|node| named.own[node].is_some());
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
    use crate::sections;
    use marey_testing::RunBuilder;

    fn answer(run: &Run) -> Phases {
        phases(run, &sections(run))
    }

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
    fn each_call_path_lasts_from_its_first_start_to_its_last_end() {
        let run = drawn();
        let found = answer(&run);
        let shown: Vec<_> = found
            .each
            .iter()
            .map(|p| (run.nodes[p.node as usize].name.as_str(), p.purpose, p.span))
            .collect();
        // As in the tree: the longest first.
        let expected = [
            ("generate", Purpose::Work, Some(span(7, 40))),
            ("step", Purpose::Work, Some(span(11, 39))),
            ("attention", Purpose::Work, Some(span(11, 36))),
            ("compile", Purpose::Compile, Some(span(7, 11))),
            ("load", Purpose::Load, Some(span(0, 6))),
            ("weights", Purpose::Load, Some(span(1, 4))),
        ];
        assert_eq!(shown, expected);
        assert_eq!(found.each[0].busy_ratio, Some(1.0));
        assert_eq!(found.each[1].busy_ratio, Some(16.0 / 28.0));
        assert!(found.each.iter().all(|phase| phase.is_span_exact));
    }

    #[test]
    fn work_is_counted_without_the_preparation_within() {
        let times: Vec<_> = answer(&drawn())
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
            until_ns: 20,
        });
        let found = answer(&run);
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
        let found = answer(&run);
        let phase = &found.each[0];
        assert_eq!((phase.span, phase.is_span_exact), (Some(span(5, 9)), false));
        assert_eq!(phase.busy_ratio, None);
        run.sections.clear();
        assert_eq!(answer(&run).each[0].span, None);
    }

    #[test]
    fn an_empty_run_and_one_of_no_length_have_no_shares() {
        assert_eq!(answer(&RunBuilder::new().finish(0)), Phases::default());
        let found = answer(&RunBuilder::new().section("load", 0, 0, |_| {}).finish(0));
        assert_eq!(found.each[0].busy_ratio, None);
        assert_eq!(found.purposes[0].ratio, None);
    }
}
