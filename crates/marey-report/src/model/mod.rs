//! Everything that any format shows, once. Missing is `None`.

mod activity;
mod attributes;
mod files;
mod quality;
mod run_facts;
mod session_facts;

use std::collections::BTreeMap;

use marey::{Run, Thresholds};
use marey_analysis::{
    Account, AttributeUse, Counter, GpuTimes, Iterations, Kind, Memory, Pipeline, Requests,
    SectionPeak, SectionRow, Sections, SessionRun, SessionRuns, Stop, UnderNoSection,
    UsedResources,
};

use crate::quantity::float;

pub use activity::Activity;
pub use attributes::{
    AttributeValue, AttributedCallFacts, CacheMoment, EventMoment, NamedValues, json_value,
};
pub use files::{SnapshotFile, TraceFile, TraceRanks};
pub(crate) use quality::thread_name;
pub use quality::{Loss, NotRead, OpenCall, Quality};
pub use run_facts::{RunFacts, RunStatus, StatusKind, launch_text};
pub(crate) use run_facts::{killed_text, run_id};
pub use session_facts::SessionFacts;

/// What is shown about one run, or about one session as if it were a run. Names in it are as the user gave them: each format escapes them for itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Where, when and how the process ran.
    pub run: RunFacts,
    /// How it ended.
    pub status: RunStatus,
    /// Where the time went.
    pub sections: Sections,
    /// What held the run up, so that it adds up; `None` where that is not known.
    pub account: Option<Account>,
    /// Where it stopped, of a run that failed or was killed.
    pub stop: Option<Stop>,
    /// The mean request, of a program that works on several at once.
    pub requests: Option<Requests>,
    /// Each loop.
    pub iterations: Vec<Iterations>,
    /// Memory readings; `None` when there were none.
    pub memory: Option<Memory>,
    /// GPU time of sections; `None` when none was measured.
    pub gpu_times: Option<GpuTimes>,
    /// Most that torch's allocator held during sections; empty when none was measured.
    pub section_peaks: Vec<SectionPeak>,
    /// What outer sections used, by call path.
    pub used_resources: Vec<UsedResources>,
    /// Readings of each counter.
    pub counters: Vec<Counter>,
    /// What was said about single calls, and which of them waited for the GPU.
    pub attributes: AttributeUse,
    /// Stages, the machine meanwhile, streaming, caches and events.
    pub activity: Activity,
    /// The session that the report is about, which has no `activity` of its own; `None` when it is about the whole run.
    pub session: Option<SessionFacts>,
    /// Pipelines, in the order of their first calls.
    pub pipelines: Vec<Pipeline>,
    /// Named intervals, in order of their start. In the report of a session those that are nested in it.
    pub sessions: Vec<SessionFacts>,
    /// `sections.under_no_section` as a share of the wall time, 0 to 1; `None` when it is not known.
    pub under_no_section_ratio: Option<f64>,
    /// Memory snapshots that lie beside the capture: whoever read them has put them here.
    pub snapshot_files: Vec<SnapshotFile>,
    /// Traces that windows of torch's profiler wrote: likewise. A page has their tables beside the report.
    pub trace_files: Vec<TraceFile>,
    /// How far the figures can be trusted.
    pub quality: Quality,
    rows_by_node: BTreeMap<u32, usize>,
}

impl Report {
    /// Asks every question about the run.
    pub fn new(run: &Run) -> Self {
        let runs = SessionRuns::new(run);
        Self::about(run, marey_analysis::sections(run), &runs, 0)
    }

    /// Asks every question about one session: an index into `Run::sessions`. `None` when there is no such session.
    pub fn of_session(run: &Run, session: usize) -> Option<Self> {
        let session = SessionRuns::new(run).get(session)?;
        Some(Self::about_session(run, &session))
    }

    /// The report of each session, in the order of `Run::sessions`; cheaper than one by one.
    pub fn of_sessions(run: &Run) -> impl Iterator<Item = Self> + '_ {
        let runs = SessionRuns::new(run);
        let sessions = 0..run.sessions.len();
        sessions.filter_map(move |session| Some(Self::about_session(run, &runs.get(session)?)))
    }

    /// The report of a session of this run that [`SessionRuns`] made.
    pub fn about_session(run: &Run, session: &SessionRun) -> Self {
        let runs = SessionRuns::within(session);
        let mut report = Self::about(&session.run, session.sections(), &runs, 1);
        // The run stays the same one.
        report.run.id = run_id(run);
        report.session = SessionFacts::itself(session);
        report
    }

    /// Sessions before the `first` are what the report is about.
    fn about(run: &Run, sections: Sections, runs: &SessionRuns<'_>, first: usize) -> Self {
        let iterations = marey_analysis::iterations(run);
        let memory = marey_analysis::memory(run);
        let rows = sections.tree.iter().enumerate();
        let rows_by_node = rows.map(|(index, row)| (row.node, index)).collect();
        let status = RunStatus::new(&run.ending());
        let has_stopped = status.kind.is_cut_short();
        let account = marey_analysis::wall_account(run, &sections);
        Self {
            run: RunFacts::new(run),
            stop: has_stopped.then(|| marey_analysis::stop(run)),
            requests: (first == 0).then(|| marey_analysis::requests(run, runs)).flatten(),
            status,
            activity: Activity::new(run, &sections, &iterations, memory.as_ref(), account.as_ref()),
            account,
            counters: marey_analysis::counters(run),
            attributes: marey_analysis::attributes(run),
            iterations,
            memory,
            gpu_times: marey_analysis::gpu_times(run),
            section_peaks: marey_analysis::section_peaks(run),
            used_resources: marey_analysis::used_resources(run),
            pipelines: runs.pipelines(&Thresholds::of(run)),
            session: None,
            sessions: SessionFacts::of(run, runs, first),
            under_no_section_ratio: under_no_section_ratio(&sections),
            snapshot_files: Vec::new(),
            trace_files: Vec::new(),
            quality: Quality::new(run),
            sections,
            rows_by_node,
        }
    }

    /// Sessions of which only name, time and tags are known here.
    pub fn n_sessions_left_short(&self) -> usize {
        let sessions = self.sessions.iter();
        sessions.filter(|s| s.activity.is_none()).count()
    }

    /// Whether a node counts iterations of a loop.
    pub fn is_iteration(&self, node: u32) -> bool {
        let row = self.section_row(node);
        row.is_some_and(|row| row.kind == Kind::Iteration)
    }

    /// What is known of a node; `None` where the report has no row for it.
    pub(crate) fn section_row(&self, node: u32) -> Option<&SectionRow> {
        self.sections.tree.get(*self.rows_by_node.get(&node)?)
    }

    /// Names from the top level down to this node; empty when the report has no row for it.
    pub fn call_path(&self, node: u32) -> Vec<&str> {
        let row = |node: u32| self.section_row(node);
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
