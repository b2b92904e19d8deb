//! The same section as an ordinary class, for Python versions on which the fast objects were not proved.

use marey::{NameId, NodeKind};
use pyo3::exceptions::PyGeneratorExit;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::kept::Kept;
use crate::open_section::{Caller, Entry, SectionMeta};
use crate::paused_section::decorated;

/// A section to be entered with `with`.
#[pyclass(frozen, module = "marey", name = "section")]
pub(crate) struct PlainSection {
    name: NameId,
    meta: SectionMeta,
    is_sync: bool,
    open: Kept<Vec<Entry>>,
}

impl PlainSection {
    pub(crate) fn new(name: NameId, meta: SectionMeta, is_sync: bool) -> Self {
        Self { name, meta, is_sync, open: Kept::default() }
    }
}

#[pymethods]
impl PlainSection {
    /// As a decorator.
    #[pyo3(signature = (*function))]
    fn __call__<'py>(
        slf: &Bound<'py, Self>,
        function: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Self { name, meta, is_sync, .. } = slf.get();
        decorated(slf, function, Some(*name), meta.clone(), *is_sync)
    }

    fn __enter__(&self, py: Python<'_>) {
        if self.is_sync {
            crate::sync::synchronize(py);
        }
        let entry = Entry::begin(py, Some(self.name), NodeKind::Section, &self.meta);
        self.open.lock().push(entry);
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) {
        if self.is_sync {
            crate::sync::synchronize(py);
        }
        let caller = Caller::of(py);
        let mine = caller.take_from(&mut self.open.lock());
        if let Some(entry) = mine {
            entry.end(py, is_failure(exception));
        }
    }
}

/// Whether the arguments of `__exit__` tell of a failure: an exception, but not that a generator is closed early.
pub(crate) fn is_failure(exception: &Bound<'_, PyTuple>) -> bool {
    exception
        .get_item(0)
        .is_ok_and(|kind| !kind.is_none() && !kind.is(exception.py().get_type::<PyGeneratorExit>()))
}
