//! The one family of exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};

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
