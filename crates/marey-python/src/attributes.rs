//! Python values as attribute values.

use marey::{Attributes, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::numbers::{is_on_device, is_scalar_at_hand};

/// Longest text of an attribute that is not a string, in characters.
const MAX_REPR: usize = 200;

/// The items of a dict. Other than bool, int, float, str and None a value is recorded as its number if it has one (`NumPy`'s scalars, tensors
/// without dimensions), else as its `repr`, cut at 200 characters; what has no `repr`, or lies on a GPU, as its type. None becomes the
/// text `None`.
pub(crate) fn from_dict(dict: Option<&Bound<'_, PyDict>>) -> Attributes {
    dict.map(|dict| {
        dict.iter()
            .map(|(name, value)| (text_of(&name), value_of(&value)))
            .collect()
    })
    .unwrap_or_default()
}

/// One value.
pub(crate) fn value_of(value: &Bound<'_, PyAny>) -> Value {
    if let Ok(v) = value.cast::<PyBool>() {
        return Value::Bool(v.is_true());
    }
    if value.cast::<PyInt>().is_ok() {
        // Numbers beyond 64 bits go on as they are written: a float would be another number.
        return value
            .extract::<i64>()
            .map_or_else(|_| Value::Text(text_of(value)), Value::Int);
    }
    if value.cast::<PyFloat>().is_ok() {
        return as_float(value);
    }
    if value.cast::<PyString>().is_ok() {
        return Value::Text(text_of(value));
    }
    if is_on_device(value).unwrap_or(false) {
        return Value::Text(type_name(value));
    }
    if let Some(number) = number_of(value) {
        return number;
    }
    let shown = value
        .repr()
        .map(|repr| repr.to_string_lossy().chars().take(MAX_REPR).collect());
    Value::Text(shown.unwrap_or_else(|_| type_name(value)))
}

/// A string's text (lone surrogates replaced), or the `repr` of anything else.
pub(crate) fn text_of(value: &Bound<'_, PyAny>) -> String {
    match value.cast::<PyString>() {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => value.repr().map_or_else(
            |_| type_name(value),
            |repr| repr.to_string_lossy().into_owned(),
        ),
    }
}

/// The number of an object that is none of Python's own.
fn number_of(value: &Bound<'_, PyAny>) -> Option<Value> {
    let has_number = value.get_type().hasattr("__float__").unwrap_or(false)
        && is_scalar_at_hand(value).unwrap_or(false);
    if !has_number {
        return None;
    }
    if let Ok(whole) = value.extract::<i64>() {
        return Some(Value::Int(whole));
    }
    // A whole number beyond 64 bits.
    if let Ok(whole) = value.call_method0("__index__") {
        return Some(Value::Text(text_of(&whole)));
    }
    value.extract().map(Value::Float).ok()
}

fn as_float(value: &Bound<'_, PyAny>) -> Value {
    value
        .extract::<f64>()
        .map_or_else(|_| Value::Text(text_of(value)), Value::Float)
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value
        .get_type()
        .name()
        .map_or_else(|_| "?".into(), |name| name.to_string_lossy().into_owned())
}
