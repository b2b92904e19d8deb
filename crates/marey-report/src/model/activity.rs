//! What a run or one of its sessions did.

use marey::Run;
use marey_analysis::{Caches, Sections, Stages, Streaming, Telemetry};
use serde::Serialize;

use super::moments::{CacheMoment, EventMoment};

/// What a run or one of its sessions did. Moments are since its start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Activity {
    /// Wall clock at its start, nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Sections by name, and which took most of the time.
    pub stages: Stages,
    /// What samplers read meanwhile.
    pub telemetry: Telemetry,
    /// Frames that were delivered; `None` when nothing was streamed.
    pub streaming: Option<Streaming>,
    /// What caches did; `None` when they said nothing.
    pub caches: Option<Caches>,
    /// Each cache event, in order of time.
    pub cache_timeline: Vec<CacheMoment>,
    /// Points in time, in order.
    pub events: Vec<EventMoment>,
}

impl Activity {
    pub(super) fn new(run: &Run, sections: &Sections) -> Self {
        Self {
            start_unix_ns: run.info.start_unix_ns,
            stages: marey_analysis::stages(sections),
            telemetry: marey_analysis::telemetry(run),
            streaming: marey_analysis::streaming(run),
            caches: marey_analysis::caches(run),
            cache_timeline: run.cache_events.iter().map(CacheMoment::new).collect(),
            events: run.events.iter().map(EventMoment::new).collect(),
        }
    }
}
