//! Errors of Python that nobody is to see, because they came up in work of Marey's own.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::numbers::interrupt_later;

/// An error as one line. What is no error but meant for the program (Ctrl-C, which Python delivers wherever it can) is
/// handed back to it.
pub(crate) fn drop_error(py: Python<'_>, error: &PyErr) -> String {
    let text = error.to_string();
    if !error.is_instance_of::<PyException>(py) {
        interrupt_later(py);
    }
    text.lines().next().unwrap_or_default().to_owned()
}
