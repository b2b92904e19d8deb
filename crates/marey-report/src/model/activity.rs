//! What a run or one of its sessions did.

use marey::Run;
use marey_analysis::{
    Account, Allocations, Caches, Diffusion, Facts, Findings, Iterations, Layers, Memory, Sections,
    Stages, Streaming, Telemetry, Thresholds, Windows, findings,
};

use super::attributes::{CacheMoment, EventMoment};

/// What a run or one of its sessions did. Moments are since its start.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Wall clock at its start, nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Sections by name, and which took most of the time.
    pub stages: Stages,
    /// What samplers read meanwhile.
    pub telemetry: Telemetry,
    /// Frames that were delivered; `None` when nothing was streamed.
    pub streaming: Option<Streaming>,
    /// Denoising steps, blocks and models; `None` when the program has none that are known.
    pub diffusion: Option<Diffusion>,
    /// Layers that the program measured; `None` when it reported none.
    pub layers: Option<Layers>,
    /// Allocations and releases that the program reported; `None` when there were none.
    pub allocations: Option<Allocations>,
    /// What caches did; `None` when they said nothing.
    pub caches: Option<Caches>,
    /// Windows of torch's profiler and the like; `None` when none was opened.
    pub windows: Option<Windows>,
    /// Each cache event, in order of time.
    pub cache_timeline: Vec<CacheMoment>,
    /// Points in time, in order.
    pub events: Vec<EventMoment>,
    /// Findings, and what was checked.
    pub findings: Findings,
}

impl Activity {
    pub(super) fn new(
        run: &Run,
        sections: &Sections,
        iterations: &[Iterations],
        memory: Option<&Memory>,
        account: Option<&Account>,
    ) -> Self {
        let limits = Thresholds::of(run);
        let mut activity = Self {
            start_unix_ns: run.info.start_unix_ns,
            stages: marey_analysis::stages(sections),
            telemetry: marey_analysis::telemetry(run),
            streaming: marey_analysis::streaming(run),
            diffusion: marey_analysis::diffusion(run, &limits),
            layers: marey_analysis::layers(run),
            allocations: marey_analysis::allocations(run),
            caches: marey_analysis::caches(run),
            windows: None,
            cache_timeline: run.cache_events.iter().map(CacheMoment::new).collect(),
            events: run.events.iter().map(EventMoment::new).collect(),
            findings: Findings::default(),
        };
        activity.windows = marey_analysis::windows(run, activity.diffusion.as_ref());
        activity.findings = findings(&Facts {
            run,
            sections,
            account,
            iterations,
            memory,
            telemetry: &activity.telemetry,
            streaming: activity.streaming.as_ref(),
            diffusion: activity.diffusion.as_ref(),
            caches: activity.caches.as_ref(),
            windows: activity.windows.as_ref(),
            thresholds: &limits,
        });
        activity
    }
}
