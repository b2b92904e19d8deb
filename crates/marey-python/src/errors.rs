//! The one family of exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    marey,
    MareyError,
    PyException,
    "Something that Marey cannot do, and how to mend it."
);
create_exception!(
    marey,
    CaptureError,
    MareyError,
    "A capture cannot be written or read."
);

/// A start that failed.
pub(crate) fn start_error(error: &marey::Error) -> PyErr {
    CaptureError::new_err(error.to_string())
}

/// A report that could not be made or written.
pub(crate) fn report_error(text: impl std::fmt::Display) -> PyErr {
    MareyError::new_err(text.to_string())
}
