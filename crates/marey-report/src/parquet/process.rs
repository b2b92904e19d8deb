//! A process whose run becomes rows.

use std::sync::{Arc, OnceLock};

use marey::Run;
use marey_analysis::{Diffusion, Thresholds, diffusion};

use super::paths::{Path, paths};
use crate::model::run_id;

/// A run, and what several tables say of it. It owns its run, so that rows can be made in another thread.
#[derive(Debug)]
pub struct Process {
    pub(super) run: Arc<Run>,
    /// Host, process id and start: no two runs share them.
    pub(super) id: String,
    /// Texts of call paths; same index as `Run::nodes`.
    pub(super) paths: Vec<Path>,
    diffusion: OnceLock<Option<Diffusion>>,
}

impl Process {
    /// Of a run.
    pub fn new(run: Arc<Run>) -> Self {
        Self { id: run_id(&run), paths: paths(&run), run, diffusion: OnceLock::new() }
    }

    /// Place in the job; `None` outside a job of several ranks.
    pub fn rank(&self) -> Option<u32> {
        self.run.info.rank
    }

    /// What processes of a job are ordered by: rank, then start, then process id.
    pub fn order(&self) -> (Option<u32>, u64, u32) {
        let info = &self.run.info;
        (info.rank, info.start_unix_ns, info.pid)
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.run.info.pid
    }

    /// Steps and blocks.
    pub(super) fn diffusion(&self) -> Option<&Diffusion> {
        let found = || diffusion(&self.run, &Thresholds::of(&self.run));
        self.diffusion.get_or_init(found).as_ref()
    }

    /// A time since the start of the run on the wall clock.
    pub(super) fn unix_ns(&self, ns: u64) -> Option<u64> {
        let start = self.run.info.start_unix_ns;
        (start > 0).then(|| start.saturating_add(ns))
    }

    pub(super) fn path(&self, node: u32) -> Option<&Path> {
        self.paths.get(node as usize)
    }

    pub(super) fn name(&self, node: u32) -> Option<&str> {
        self.run.nodes.get(node as usize).map(|n| n.name.as_str())
    }

    pub(super) fn thread_name(&self, thread: u32) -> Option<&str> {
        let thread = self.run.threads.get(thread as usize)?;
        (!thread.name.is_empty()).then_some(thread.name.as_str())
    }

    pub(super) fn session_name(&self, session: Option<u32>) -> Option<&str> {
        let session = self.run.sessions.get(session? as usize)?;
        Some(session.name.as_str())
    }
}
