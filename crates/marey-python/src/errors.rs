//! The one family of exceptions, what is said once in Python's log, and errors of Python that nobody is to see, because they came up in work of Marey's own.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

use crate::callback;
use crate::once_object::OnceObject;

create_exception!(
    marey,
    MareyError,
    PyException,
    "Something that Marey cannot do, and how to mend it."
);
create_exception!(marey, CaptureError, MareyError, "A capture cannot be written or read.");

/// A start that failed.
pub(crate) fn start_error(error: &marey::Error) -> PyErr {
    CaptureError::new_err(error.to_string())
}

/// A report that could not be made or written.
pub(crate) fn report_error(text: impl std::fmt::Display) -> PyErr {
    MareyError::new_err(text.to_string())
}

/// `ConfigError`, a `MareyError` and a `ValueError`: a configuration that cannot be used.
pub(crate) fn config_error_type(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: OnceObject<PyType> = OnceObject::new();
    TYPE.get_or_make(py, || {
        let bases = (py.get_type::<MareyError>(), py.get_type::<PyValueError>());
        let members = PyDict::new(py);
        members.set_item("__module__", "marey")?;
        members.set_item(
            "__doc__",
            "A configuration cannot be used: where, which key, and what would do.",
        )?;
        let made = py.get_type::<PyType>().call1(("ConfigError", bases, members))?;
        Ok(made.cast_into::<PyType>()?.unbind())
    })
}

/// A configuration that cannot be used.
pub(crate) fn config_error(py: Python<'_>, error: &marey::profiling_config::ConfigError) -> PyErr {
    match config_error_type(py) {
        Ok(kind) => PyErr::from_type(kind.clone(), error.to_string()),
        Err(failure) => failure,
    }
}

/// The value, `None` for an error of it. What is no `Exception`, Ctrl-C above all, goes on.
pub(crate) fn or_absent<T>(py: Python<'_>, result: PyResult<T>) -> PyResult<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The value of a call that must not raise: `None` for an error of it. Ctrl-C comes again, when the program's own code goes on.
pub(crate) fn or_later<T>(py: Python<'_>, result: PyResult<T>) -> Option<T> {
    let error = match result {
        Ok(value) => return Some(value),
        Err(error) => error,
    };
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        interrupt_later(py);
    }
    None
}

/// Ctrl-C comes again, when the program's own code goes on. Last: whatever asks Python for anything after this would meet it there.
pub(crate) fn interrupt_later(py: Python<'_>) {
    callback::import(py, "_thread")
        .and_then(|thread| callback::method(&thread, "interrupt_main", ()))
        .ok();
}

/// An error as one line. What is no error but meant for the program (Ctrl-C, which Python delivers wherever it can) is
/// handed back to it.
pub(crate) fn drop_error(py: Python<'_>, error: &PyErr) -> String {
    let text = error.to_string();
    if !error.is_instance_of::<PyException>(py) {
        interrupt_later(py);
    }
    text.lines().next().unwrap_or_default().to_owned()
}

/// Logs a warning the first time, in Python's own log, which goes to stderr where a program has not set up logging. Errors of the program's own handlers are dropped; Ctrl-C is not.
pub(crate) fn warn_once(py: Python<'_>, was_said: &AtomicBool, text: &str) -> PyResult<()> {
    if was_said.swap(true, Relaxed) {
        return Ok(());
    }
    or_absent(py, warn(py, text)).map(|_| ())
}

fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let log = callback::method(&callback::import(py, "logging")?, "getLogger", ("marey",))?;
    callback::method(&log, "warning", ("%s", text)).map(drop)
}
