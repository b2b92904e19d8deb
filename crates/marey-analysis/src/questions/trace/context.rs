//! What questions to a trace have in common.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::graph_replays::GraphReplays;
use super::launch_coverage::{LaunchCoverage, launch_coverage};
use super::left_out::MOST_DEVICES;
use super::modelled_calls::ModelledCalls;
use super::modelled_work::modelled_calls;
use super::scopes::TraceParts;
use super::synchronisation::WaitTimes;
use super::{DeviceTimeline, GraphCaptures, HostRows, Owners, Scope, device_timelines};
use crate::import::chrome::Trace;

/// A trace with what is found out once for all questions.
#[derive(Debug)]
pub struct TraceContext<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The part that is asked about; `None` for all of it.
    pub scope: Option<Scope>,
    /// What each device did, of the part that is asked about.
    pub timelines: Vec<DeviceTimeline>,
    /// How the rows of the host enclose each other, of all the trace.
    pub host: HostRows,
    /// Which operators and modules they belong to, likewise.
    pub owners: Owners,
    /// How much of what was launched the trace has, likewise.
    pub coverage: LaunchCoverage,
    /// What recorded the kernels of graphs, likewise.
    pub(super) replays: GraphReplays,
    /// Calls that wait for a device, likewise.
    pub(crate) waits: WaitTimes,
    /// Its steps and phases, likewise, once they are asked for.
    parts: OnceLock<TraceParts>,
    /// Calls of operators by the device that they launched work of, of the part that is asked about, once they are asked for.
    calls: OnceLock<BTreeMap<u32, ModelledCalls>>,
}

impl<'a> TraceContext<'a> {
    /// Sorts the rows of host and devices: O(n log n), 20 bytes a row of the host and 48 an operation of a device.
    pub fn new(trace: &'a Trace, scope: Option<Scope>) -> Self {
        Self::with_captures(trace, scope, GraphCaptures::default())
    }

    /// The same with what other traces tell of graphs that this one replays.
    pub fn with_captures(trace: &'a Trace, scope: Option<Scope>, captures: GraphCaptures) -> Self {
        let mut timelines = device_timelines(trace);
        let waits = WaitTimes::new(trace, &timelines);
        let coverage = launch_coverage(trace, &mut timelines);
        let host = HostRows::new(trace);
        let owners = Owners::new(trace, &host);
        let replays = GraphReplays::new(trace, &timelines, &owners, captures);
        if let Some(scope) = &scope {
            timelines = timelines
                .into_iter()
                .map(|timeline| timeline.only(|work| scope.has_work(trace, work)))
                .collect();
        }
        let (parts, calls) = (OnceLock::new(), OnceLock::new());
        Self { trace, scope, timelines, host, owners, coverage, replays, waits, parts, calls }
    }

    /// The steps and phases of all the trace.
    pub(crate) fn parts(&self) -> &TraceParts {
        self.parts.get_or_init(|| match self.scope {
            Some(_) => TraceParts::new(self.trace, &device_timelines(self.trace)),
            None => TraceParts::new(self.trace, &self.timelines),
        })
    }

    /// Calls of operators that launched work, by device; empty when neither it nor recordings of its graphs have shapes.
    pub(super) fn all_modelled_calls(&self) -> &BTreeMap<u32, ModelledCalls> {
        self.calls.get_or_init(|| {
            let has_shapes = self.has_inputs();
            let timelines = self.timelines.iter().take(MOST_DEVICES).filter(|_| has_shapes);
            timelines.map(|timeline| (timeline.process, modelled_calls(self, timeline))).collect()
        })
    }

    /// The row of the host began in the part that is asked about.
    pub fn has_row(&self, row: u32) -> bool {
        let scope = self.scope.as_ref();
        scope.is_none_or(|scope| scope.has_row(self.trace, row))
    }

    /// What each device of a document did.
    pub(crate) fn timelines_of(&self, document: u32) -> impl Iterator<Item = &DeviceTimeline> {
        let timelines = self.timelines.iter();
        timelines.filter(move |of| self.trace.document_of_process(of.process) == document)
    }

    /// The model of a device, as the trace's metadata have it; `None` when the trace does not say.
    pub(crate) fn model_of(&self, timeline: &DeviceTimeline) -> Option<String> {
        let number = self.trace.process_number(timeline.process)?;
        let document = self.trace.document_of_process(timeline.process);
        let said = self.trace.metadata.get(document as usize)?;
        said.device(number, self.timelines_of(document).count())?.name.clone()
    }
}
