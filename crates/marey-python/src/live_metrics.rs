//! What is known of this process now, for the display in Python.

use marey_report::{Metrics, Watch};
use pyo3::prelude::*;

use crate::current_metrics;

/// The latest readings of the samplers, and rates since the look before.
#[pyclass(module = "marey._core")]
#[derive(Default)]
pub(crate) struct LiveMetrics {
    watch: Watch,
    now: Metrics,
}

#[pymethods]
impl LiveMetrics {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Looks again. False when nothing is known: recording is off, or no sampler has read yet.
    fn look(&mut self) -> bool {
        self.now = current_metrics::look(&mut self.watch);
        !self.now.is_empty()
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

/// The rank that this process has by its environment; None outside a job of several ranks.
#[pyfunction]
pub(crate) fn rank() -> Option<u32> {
    marey::rank_of_environment()
}
