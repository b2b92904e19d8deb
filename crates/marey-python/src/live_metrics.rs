//! What is known of this process now, for the display in Python.

use marey_report::live::{LiveSnapshot, Watch};
use pyo3::prelude::*;

use crate::current_metrics;

/// The latest readings of the samplers, and rates.
#[pyclass(module = "marey._core")]
#[derive(Default)]
pub(crate) struct LiveMetrics {
    watch: Watch,
    now: LiveSnapshot,
}

#[pymethods]
impl LiveMetrics {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Looks again. False when nothing is known: recording is off, or no sampler has read yet.
    fn look(&mut self) -> bool {
        self.now = current_metrics::look(&mut self.watch).unwrap_or_default();
        !(self.line().is_empty() && self.postfix().is_empty())
    }

    /// Lines for a console under a heading that names the session; empty when nothing is known.
    fn block(&self, session: &str) -> String {
        self.now.block(session)
    }

    /// One line for a log; empty when nothing is known.
    fn line(&self) -> String {
        self.now.line()
    }

    /// A few words for the end of a progress bar; empty when nothing is known.
    fn postfix(&self) -> String {
        self.now.postfix()
    }
}

/// The rank that this process has, as it said itself or by its environment; None outside a job of several ranks.
#[pyfunction]
pub(crate) fn rank() -> Option<u32> {
    marey::rank()
}

/// Rank, number of ranks and who said so, each None when not known.
#[pyfunction]
pub(crate) fn place() -> (Option<u32>, Option<u32>, Option<&'static str>) {
    marey::place_in_job()
}

/// Says which rank this process is, where its launcher does not. False, and nothing changes, for what cannot be.
#[pyfunction]
#[pyo3(signature = (rank, world_size, local_rank=None))]
pub(crate) fn set_rank(
    py: Python<'_>,
    rank: u32,
    world_size: u32,
    local_rank: Option<u32>,
) -> bool {
    py.detach(|| marey::set_rank(rank, world_size, local_rank))
}
