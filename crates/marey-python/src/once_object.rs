//! Objects that are made with their first use and then kept.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A place for an object of Python that is made once. Two threads may both make one; the first to be done is kept.
///
/// `PyOnceLock::get_or_init` gives the GIL away while it holds its lock: a thread that forks then leaves a child in which nobody ever gives
/// the lock back, and which waits for it for ever. Here nothing is held while an object is made.
pub(crate) struct OnceObject<T>(PyOnceLock<Py<T>>);

impl<T> OnceObject<T> {
    pub(crate) const fn new() -> Self {
        Self(PyOnceLock::new())
    }

    #[inline]
    pub(crate) fn get_or_make<'py>(
        &self,
        py: Python<'py>,
        make: impl FnOnce() -> PyResult<Py<T>>,
    ) -> PyResult<&Bound<'py, T>> {
        if let Some(kept) = self.0.get(py) {
            return Ok(kept.bind(py));
        }
        self.make(py, make)
    }

    #[cold]
    fn make<'py>(
        &self,
        py: Python<'py>,
        make: impl FnOnce() -> PyResult<Py<T>>,
    ) -> PyResult<&Bound<'py, T>> {
        // What another thread has made meanwhile is kept, and ours dropped.
        drop(self.0.set(py, make()?));
        let kept = self.0.get(py).map(|kept| kept.bind(py));
        kept.ok_or_else(|| pyo3::exceptions::PySystemError::new_err("an object is gone"))
    }
}
