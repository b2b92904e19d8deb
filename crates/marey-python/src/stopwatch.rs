//! A time that is measured in pieces, by the host's clock.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::kept::Kept;

/// Runs while a `with` block does; several blocks add up. It is handed to whoever records the time.
#[pyclass(frozen, module = "marey._core")]
#[derive(Default)]
pub(crate) struct Stopwatch {
    time: Kept<Time>,
}

/// In ticks.
#[derive(Default)]
struct Time {
    started: Option<u64>,
    elapsed: Option<u64>,
}

#[pymethods]
impl Stopwatch {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __enter__(&self) {
        self.time.lock().started = Some(marey::ticks());
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        let now = marey::ticks();
        let mut time = self.time.lock();
        if let Some(started) = time.started.take() {
            *time.elapsed.get_or_insert(0) += now.saturating_sub(started);
        }
    }
}

impl Stopwatch {
    /// What it measured, in ticks; `None` when it never ran.
    pub(crate) fn ticks(&self) -> Option<u64> {
        self.time.lock().elapsed
    }
}
