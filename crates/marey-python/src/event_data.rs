//! The data of an event, the metadata of a stage, the tags of a session: whatever a program has at hand, as attributes.

use marey::{Attributes, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple};
use serde_json::Value as Json;

use crate::attributes::{text_of, value_of};

/// How deep lists and dicts are followed; below that they are shown as `…`.
const MAX_DEPTH: usize = 8;
/// Most items of all lists and dicts of one value.
const MAX_ITEMS: usize = 256;

/// Attributes of `data`: the items of a mapping, dicts in it under names with dots between (`{"a": {"b": 1}}` is `a.b`), lists as JSON; anything
/// else as one attribute `value`. Empty for None.
pub(crate) fn attributes_of(data: Option<&Bound<'_, PyAny>>) -> Attributes {
    let mut attributes = Attributes::new();
    let Some(data) = data.filter(|data| !data.is_none()) else {
        return attributes;
    };
    match dict_of(data) {
        Some(dict) => flatten("", &dict, 0, &mut attributes),
        None => attributes.push(("value".into(), flat_value(data))),
    }
    attributes
}

/// A dict of any mapping.
fn dict_of<'py>(data: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    if let Ok(dict) = data.cast::<PyDict>() {
        return Some(dict.clone());
    }
    let mapping = data.cast::<PyMapping>().ok()?;
    let dict = PyDict::new(data.py());
    dict.update(mapping).ok()?;
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
            _ => into.push((name, flat_value(&value))),
        }
    }
}

fn flat_value(value: &Bound<'_, PyAny>) -> Value {
    if is_nested(value) {
        let json = json_of(value, 0, &mut { MAX_ITEMS });
        return Value::Text(json.to_string());
    }
    value_of(value)
}

fn is_nested(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PyDict>()
}

/// A value as JSON. `room` is how many items may still be added.
fn json_of(value: &Bound<'_, PyAny>, depth: usize, room: &mut usize) -> Json {
    if value.is_none() {
        return Json::Null;
    }
    if !is_nested(value) {
        return match value_of(value) {
            Value::Bool(v) => v.into(),
            Value::Int(v) => v.into(),
            Value::Float(v) => v.into(),
            Value::Text(v) => v.into(),
        };
    }
    if depth >= MAX_DEPTH {
        return "…".into();
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let items = items_of(dict).map_while(|(name, value)| {
            take_room(room)?;
            Some((text_of(&name), json_of(&value, depth + 1, room)))
        });
        return Json::Object(items.collect());
    }
    let items = value.try_iter().into_iter().flatten();
    let items = items.map_while(|item| {
        take_room(room)?;
        Some(json_of(&item.ok()?, depth + 1, room))
    });
    Json::Array(items.collect())
}

/// The items as they are now: a `repr` can change the dict.
fn items_of<'py>(
    dict: &Bound<'py, PyDict>,
) -> impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let items = dict.items().into_iter();
    items.filter_map(|item| item.extract().ok())
}

fn take_room(room: &mut usize) -> Option<()> {
    *room = room.checked_sub(1)?;
    Some(())
}

/// A text of whatever a program gives as a name: a string's own text, otherwise `str()` of it, otherwise the name of its type.
pub(crate) fn name_of(value: &Bound<'_, PyAny>) -> String {
    if value.cast::<PyString>().is_ok() {
        return text_of(value);
    }
    match value.str() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => text_of(value),
    }
}
