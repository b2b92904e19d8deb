//! From a Python string to the number of its name, without hashing it again.

use marey::NameId;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::attributes::text_of;
use crate::section_kinds;

const N_ENTRIES: usize = 256;

/// A cache in front of the recorder's table, by the address of the `str` object. Each entry owns a reference to its string: a freed
/// string's address would match another name.
pub(crate) struct NameCache {
    entries: [Option<(Py<PyAny>, NameId)>; N_ENTRIES],
}

impl NameCache {
    pub(crate) const fn new() -> Self {
        Self {
            entries: [const { None }; N_ENTRIES],
        }
    }

    /// The number of a name that was seen as this very object.
    #[inline]
    pub(crate) fn known(&self, name: &Bound<'_, PyAny>) -> Option<NameId> {
        match &self.entries[index_of(name.as_ptr())] {
            Some((object, id)) if object.as_ptr() == name.as_ptr() => Some(*id),
            _ => None,
        }
    }

    /// Keeps the number of a name. Only of a plain string: that one does not change, and letting go of it runs no Python code.
    pub(crate) fn keep(&mut self, name: &Bound<'_, PyAny>, id: NameId) {
        if name.is_exact_instance_of::<PyString>() {
            let entry = &mut self.entries[index_of(name.as_ptr())];
            if let Some((old, _)) = entry.replace((name.clone().unbind(), id)) {
                // Let go of at once: what is dropped unbound on the fast path waits for the next call that comes by PyO3's own ways.
                drop(old.into_bound(name.py()));
            }
        }
    }
}

/// The number of a name, by the recorder's table; what is not a string is known by its `repr`. `None` when recording is off.
pub(crate) fn id_of(name: &Bound<'_, PyAny>) -> Option<NameId> {
    let recorder = marey::recorder().or_else(crate::state::recorder)?;
    // A string keeps its UTF-8 form; one with lone surrogates has none.
    let utf8 = name
        .cast::<PyString>()
        .ok()
        .and_then(|text| text.to_str().ok());
    Some(match utf8 {
        Some(text) => recorder.name(text.as_bytes()),
        None => recorder.name(text_of(name).as_bytes()),
    })
}

/// As [`id_of`], for a section; `None` also when sections of its kind are switched off.
pub(crate) fn section_id_of(name: &Bound<'_, PyAny>) -> Option<NameId> {
    // The start of a recorder reads what the environment switches off.
    marey::recorder().or_else(crate::state::recorder)?;
    if section_kinds::is_off_by_name(name) {
        return None;
    }
    id_of(name)
}

fn index_of(object: *mut ffi::PyObject) -> usize {
    (object as usize >> 4) % N_ENTRIES
}
