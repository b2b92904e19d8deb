//! From a Python string to the number of its name, by the recorder's table.

use marey::NameId;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::attributes::text_of;
use crate::section_kinds;

/// The number of a name, by the recorder's table; what is not a string is known by its `repr`. `None` when recording is off.
pub(crate) fn id_of(name: &Bound<'_, PyAny>) -> Option<NameId> {
    let recorder = marey::recorder().or_else(crate::state::recorder)?;
    // A string keeps its UTF-8 form; one with lone surrogates has none.
    let utf8 = name.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
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
