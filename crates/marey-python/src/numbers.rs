//! Numbers that a program reports. What is no number, is below zero or makes no sense is absent; nothing here waits for a GPU.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use crate::callback;
use crate::errors::or_absent;

/// Most that a reported count, size or duration can be: 2⁵³, which for nanoseconds is 104 days.
const MAX: f64 = 9_007_199_254_740_992.0;

/// A finite number: an int, a float, or what `float()` makes one of, such as `NumPy`'s scalars and tensors without dimensions. Absent for
/// a tensor on a device, because reading that would wait for it.
pub(crate) fn real(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<f64>> {
    let Some(value) = value else { return Ok(None) };
    let py = value.py();
    let is_plain = value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyInt>();
    let is_none = value.is_none() || value.cast::<PyBool>().is_ok();
    if !is_plain && (is_none || value.cast::<PyString>().is_ok() || !is_scalar_at_hand(value)?) {
        return Ok(None);
    }
    let number = or_absent(py, callback::float(value))?;
    Ok(number.filter(|number| number.is_finite()))
}

/// A number that is not below zero.
fn amount(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<f64>> {
    let number = real(value)?;
    Ok(number.filter(|number| (0.0..=MAX).contains(number)))
}

/// A whole number from 0 on; `4.0` is one, `4.5` is absent.
pub(crate) fn natural(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    let number = amount(value)?;
    Ok(number.filter(|number| number.fract() == 0.0).map(rounded))
}

/// Milliseconds as nanoseconds.
pub(crate) fn ns_of_ms(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    scaled(value, 1e6)
}

/// MiB as bytes.
pub(crate) fn bytes_of_mib(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<u64>> {
    scaled(value, 1_048_576.0)
}

fn scaled(value: Option<&Bound<'_, PyAny>>, factor: f64) -> PyResult<Option<u64>> {
    let scaled = amount(value)?.map(|number| number * factor);
    Ok(scaled.filter(|number| *number <= MAX).map(rounded))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers give numbers from 0 to 2⁵³"
)]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}

/// Whether an object of another class than Python's numbers may be asked for its number: it has no dimensions, and lies in the memory of
/// the host.
pub(crate) fn is_scalar_at_hand(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let has_dimensions = match attribute(value, "ndim")? {
        Some(n) => {
            let n = callback::index(&n).and_then(|n| n.extract::<usize>());
            or_absent(value.py(), n)?.is_none_or(|n| n > 0)
        }
        None => false,
    };
    Ok(!has_dimensions && !is_on_device(value)?)
}

/// Whether an object says that it lies on another device than the CPU: torch's `tensor.device.type`, `"cpu"` of `NumPy`.
pub(crate) fn is_on_device(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let Some(device) = attribute(value, "device")? else {
        return Ok(false);
    };
    let kind = attribute(&device, "type")?.unwrap_or(device);
    let kind = kind.cast::<PyString>().ok().map(|kind| kind.to_string_lossy());
    Ok(kind.is_none_or(|kind| kind != "cpu"))
}

fn attribute<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    or_absent(value.py(), callback::attribute(value, name))
}
