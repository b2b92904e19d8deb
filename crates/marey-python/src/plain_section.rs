//! The same section as an ordinary class, for Python versions on which the fast objects were not proved.

use marey::{Attributes, NameId, NodeKind};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::open_section::{OpenSection, note_attributes};
use crate::slots;

/// A section to be entered with `with`.
#[pyclass(module = "marey._core", name = "section")]
pub(crate) struct PlainSection {
    name: NameId,
    attributes: Attributes,
    is_sync: bool,
    /// Innermost last: the same object may be entered again while it is open.
    open: Vec<Option<(marey::Slot, OpenSection)>>,
}

impl PlainSection {
    pub(crate) fn new(name: NameId, attributes: Attributes, is_sync: bool) -> Self {
        Self {
            name,
            attributes,
            is_sync,
            open: Vec::new(),
        }
    }
}

#[pymethods]
impl PlainSection {
    fn __enter__(&mut self, py: Python<'_>) {
        if self.is_sync {
            crate::sync::synchronize(py);
        }
        let opened = crate::thread::lane(py).and_then(|lane| {
            let slot = slots::take(py)?;
            let (open, node, start) =
                OpenSection::begin(py, lane, slot, self.name, NodeKind::Section);
            if !self.attributes.is_empty() {
                note_attributes(lane, node, start, self.attributes.clone());
            }
            Some((slot, open))
        });
        self.open.push(opened);
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&mut self, py: Python<'_>, exception: &Bound<'_, PyTuple>) {
        if self.is_sync {
            crate::sync::synchronize(py);
        }
        let Some(Some((slot, open))) = self.open.pop() else {
            return;
        };
        let is_failed = exception.get_item(0).is_ok_and(|kind| !kind.is_none());
        if let Some(lane) = crate::thread::lane(py) {
            open.end(py, lane, slot, is_failed);
        }
        slots::give(py, slot);
    }
}
