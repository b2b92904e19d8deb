//! What rules look at.

use marey::Run;

use super::Thresholds;
use crate::stats::ratio;
use crate::{Caches, Diffusion, Iterations, Memory, Sections, Stages, Streaming, Telemetry};

/// A run with the answers to the questions about it, which rules share.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The run, or the run of a session.
    pub run: &'a Run,
    /// Where the time went.
    pub sections: &'a Sections,
    /// Sections by name.
    pub stages: &'a Stages,
    /// Each loop.
    pub iterations: &'a [Iterations],
    /// Memory readings.
    pub memory: Option<&'a Memory>,
    /// What samplers read.
    pub telemetry: &'a Telemetry,
    /// Delivered frames.
    pub streaming: Option<&'a Streaming>,
    /// Denoising steps, blocks, models.
    pub diffusion: Option<&'a Diffusion>,
    /// What caches did.
    pub caches: Option<&'a Caches>,
    /// Limits of the rules.
    pub thresholds: &'a Thresholds,
}

impl Facts<'_> {
    /// `ns` as a share of the wall time, 0 to 1; 0 of a run that took no time.
    pub(super) fn share_of_wall(&self, ns: u64) -> f64 {
        let wall_ns = self.run.wall_ns;
        ratio(ns.min(wall_ns).into(), wall_ns.max(1).into())
    }
}
