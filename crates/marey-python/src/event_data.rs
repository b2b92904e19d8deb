//! The data of an event, the metadata of a stage, the tags of a session: whatever a program has at hand, as attributes.

use marey::Attributes;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::attributes::{MAX_DEPTH, MAX_ITEMS, items_of, text_of, value_of};
use crate::callback;
use crate::numbers::or_later;

/// Attributes of `data`: the items of a mapping, dicts in it under names with dots between (`{"a": {"b": 1}}` is `a.b`); anything
/// else as one attribute `value`. Empty for None.
pub(crate) fn attributes_of(data: Option<&Bound<'_, PyAny>>) -> Attributes {
    let mut attributes = Attributes::new();
    let Some(data) = data.filter(|data| !data.is_none()) else {
        return attributes;
    };
    match dict_of(data) {
        Some(dict) => flatten("", &dict, 0, &mut attributes),
        None => attributes.push(("value".into(), value_of(data))),
    }
    attributes
}

/// A dict of any mapping.
fn dict_of<'py>(data: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    if let Ok(dict) = data.cast::<PyDict>() {
        return Some(dict.clone());
    }
    or_later(data.py(), callback::is_mapping(data)).filter(|is_mapping| *is_mapping)?;
    let dict = PyDict::new(data.py());
    or_later(data.py(), callback::update(&dict, data))?;
    Some(dict)
}

fn flatten(prefix: &str, dict: &Bound<'_, PyDict>, depth: usize, into: &mut Attributes) {
    for (name, value) in items_of(dict) {
        if into.len() >= MAX_ITEMS {
            return;
        }
        let name = format!("{prefix}{}", text_of(&name));
        match value.cast::<PyDict>() {
            Ok(inner) if depth < MAX_DEPTH && !inner.is_empty() => {
                flatten(&format!("{name}."), inner, depth + 1, into);
            }
            _ => into.push((name, value_of(&value))),
        }
    }
}

/// A text of whatever a program gives as a name: a string's own text, otherwise `str()` of it, otherwise the name of its type.
pub(crate) fn name_of(value: &Bound<'_, PyAny>) -> String {
    if value.cast::<PyString>().is_ok() {
        return text_of(value);
    }
    match or_later(value.py(), callback::str(value)) {
        Some(text) => text.to_string_lossy().into_owned(),
        None => text_of(value),
    }
}
