//! What rules look at.

use marey::Run;

use super::Thresholds;
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
