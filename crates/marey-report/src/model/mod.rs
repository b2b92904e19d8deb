//! Everything that any format shows, once. Missing is `None`.

mod attributed;
mod attributes;
mod moments;
mod quality;
mod run_facts;

use std::collections::BTreeMap;

use marey::Run;
use marey_analysis::{Caches, Counter, Iterations, Memory, SectionRow, Sections, UnderNoSection};
use serde::Serialize;

use crate::quantity::float;

pub use attributed::{AttributeFacts, Attributed, AttributedCallFacts};
pub use attributes::{AttributeValue, NamedValues};
pub use moments::{CacheMoment, EventMoment, SessionFacts};
pub use quality::{Loss, OpenCall, Quality, Synchronised};
pub use run_facts::{RunFacts, RunStatus, StatusKind};

/// What is shown about one run. Names in it are as the user gave them: each format escapes them for itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Where, when and how the process ran.
    pub run: RunFacts,
    /// How it ended.
    pub status: RunStatus,
    /// Where the time went.
    pub sections: Sections,
    /// Each loop.
    pub iterations: Vec<Iterations>,
    /// Memory readings; `None` when there were none.
    pub memory: Option<Memory>,
    /// What caches did; `None` when they said nothing.
    pub caches: Option<Caches>,
    /// Each cache event, in order of time.
    pub cache_timeline: Vec<CacheMoment>,
    /// Readings of each counter.
    pub counters: Vec<Counter>,
    /// What was said about single calls.
    pub attributes: Attributed,
    /// Named intervals, in order of their start.
    pub sessions: Vec<SessionFacts>,
    /// Points in time, in order.
    pub events: Vec<EventMoment>,
    /// `sections.under_no_section` as a share of the wall time, 0 to 1; `None` when it is not known.
    pub under_no_section_ratio: Option<f64>,
    /// How far the figures can be trusted.
    pub quality: Quality,
    #[serde(skip)]
    rows_by_node: BTreeMap<u32, usize>,
}

impl Report {
    /// Asks every question about the run.
    pub fn new(run: &Run) -> Self {
        let sections = marey_analysis::sections(run);
        let attributes = marey_analysis::attributes(run);
        let rows = sections.tree.iter().enumerate();
        let rows_by_node = rows.map(|(index, row)| (row.node, index)).collect();
        Self {
            run: RunFacts::new(run),
            status: RunStatus::new(&run.status),
            iterations: marey_analysis::iterations(run),
            memory: marey_analysis::memory(run),
            caches: marey_analysis::caches(run),
            cache_timeline: run.cache_events.iter().map(CacheMoment::new).collect(),
            counters: marey_analysis::counters(run),
            attributes: Attributed::new(&attributes),
            sessions: marey_analysis::sessions(run)
                .into_iter()
                .map(SessionFacts::new)
                .collect(),
            events: run.events.iter().map(EventMoment::new).collect(),
            under_no_section_ratio: under_no_section_ratio(&sections),
            quality: Quality::new(run, &attributes.synchronised),
            sections,
            rows_by_node,
        }
    }

    /// Names from the top level down to this node; empty when the report has no row for it.
    pub fn call_path(&self, node: u32) -> Vec<&str> {
        let row = |node: u32| -> Option<&SectionRow> {
            self.sections.tree.get(*self.rows_by_node.get(&node)?)
        };
        let upwards = std::iter::successors(row(node), |found| found.parent.and_then(row));
        let mut path: Vec<&str> = upwards.map(|row| row.name.as_str()).collect();
        path.reverse();
        path
    }
}

fn under_no_section_ratio(sections: &Sections) -> Option<f64> {
    match sections.under_no_section {
        UnderNoSection::Known(ns) if sections.wall_ns > 0 => {
            Some(float(ns) / float(sections.wall_ns))
        }
        _ => None,
    }
}
