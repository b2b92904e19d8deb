//! Python values as attribute values.

use marey::{Attributes, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::Value as Json;

use crate::callback;
use crate::errors::or_later;
use crate::numbers::{is_on_device, is_scalar_at_hand};

/// Longest text of an attribute that is not a string, in characters.
const MAX_REPR: usize = 200;
/// How deep lists and dicts are followed; below that they are shown as `…`.
const MAX_DEPTH: usize = 8;
/// Most items of all lists and dicts of one value.
const MAX_ITEMS: usize = 256;

/// The items of a dict. Bool, int, float, str, None, lists and tuples are recorded as they are, a dict as its JSON. Anything else is
/// recorded as its number if it has one (`NumPy`'s scalars, tensors without dimensions), else as its `repr`, cut at 200 characters; what
/// has no `repr`, or lies on a GPU, as its type.
pub(crate) fn from_dict(dict: Option<&Bound<'_, PyDict>>) -> Attributes {
    dict.map(|dict| dict.iter().map(|(name, value)| (text_of(&name), value_of(&value))).collect())
        .unwrap_or_default()
}

/// One value.
fn value_of(value: &Bound<'_, PyAny>) -> Value {
    value_within(value, 0, &mut { MAX_ITEMS })
}

/// One value that lies in so many lists. `room` is how many items may still be added.
fn value_within(value: &Bound<'_, PyAny>, depth: usize, room: &mut usize) -> Value {
    if value.is_none() {
        return Value::Null;
    }
    let dict = value.cast::<PyDict>();
    let list = items_of_list(value);
    if depth >= MAX_DEPTH && (dict.is_ok() || list.is_some()) {
        return Value::Text("…".into());
    }
    if let Some(items) = list {
        let items = items.into_iter().map_while(|item| {
            *room = room.checked_sub(1)?;
            Some(value_within(&item, depth + 1, room))
        });
        return Value::List(items.collect());
    }
    if let Ok(dict) = dict {
        return Value::Text(json_of(dict, depth, room).to_string());
    }
    scalar(value)
}

/// The items of a list or a tuple as they are now: a `repr` can change the list.
fn items_of_list<'py>(value: &Bound<'py, PyAny>) -> Option<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = value.cast::<PyList>() {
        return Some(list.iter().collect());
    }
    Some(value.cast::<PyTuple>().ok()?.iter().collect())
}

/// The items of a dict as they are now.
fn items_of<'py>(
    dict: &Bound<'py, PyDict>,
) -> impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let items = dict.items().into_iter();
    items.filter_map(|item| item.extract().ok())
}

fn json_of(dict: &Bound<'_, PyDict>, depth: usize, room: &mut usize) -> Json {
    let items = items_of(dict).map_while(|(name, value)| {
        *room = room.checked_sub(1)?;
        let value = match value.cast::<PyDict>() {
            Ok(inner) if depth < MAX_DEPTH => json_of(inner, depth + 1, room),
            _ => marey_report::json_value(&value_within(&value, depth + 1, room)),
        };
        Some((text_of(&name), value))
    });
    Json::Object(items.collect())
}

fn scalar(value: &Bound<'_, PyAny>) -> Value {
    if let Ok(v) = value.cast::<PyBool>() {
        return Value::Bool(v.is_true());
    }
    if value.cast::<PyInt>().is_ok() {
        // Numbers beyond 64 bits go on as they are written: a float would be another number.
        return value.extract::<i64>().map_or_else(|_| Value::Text(text_of(value)), Value::Int);
    }
    if value.cast::<PyFloat>().is_ok() {
        return as_float(value);
    }
    if value.cast::<PyString>().is_ok() {
        return Value::Text(text_of(value));
    }
    let py = value.py();
    if or_later(py, is_on_device(value)).unwrap_or(false) {
        return Value::Text(type_name(value));
    }
    if let Some(number) = number_of(value) {
        return number;
    }
    let shown = or_later(py, callback::repr(value));
    let shown = shown.map(|repr| repr.to_string_lossy().chars().take(MAX_REPR).collect());
    Value::Text(shown.unwrap_or_else(|| type_name(value)))
}

/// A string's text (lone surrogates replaced), or the `repr` of anything else.
pub(crate) fn text_of(value: &Bound<'_, PyAny>) -> String {
    match value.cast::<PyString>() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => or_later(value.py(), callback::repr(value))
            .map_or_else(|| type_name(value), |repr| repr.to_string_lossy().into_owned()),
    }
}

/// The number of an object that is none of Python's own.
fn number_of(value: &Bound<'_, PyAny>) -> Option<Value> {
    let has_number = value.get_type().hasattr("__float__").unwrap_or(false)
        && or_later(value.py(), is_scalar_at_hand(value)).unwrap_or(false);
    if !has_number {
        return None;
    }
    let py = value.py();
    if let Some(whole) = or_later(py, callback::index(value)) {
        return Some(scalar(&whole));
    }
    or_later(py, callback::float(value)).map(Value::Float)
}

fn as_float(value: &Bound<'_, PyAny>) -> Value {
    value.extract::<f64>().map_or_else(|_| Value::Text(text_of(value)), Value::Float)
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string_lossy().into_owned())
}

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
