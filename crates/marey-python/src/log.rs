//! What a user should know once: a line in Python's own log, which goes to stderr where a program has not set up logging.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::prelude::*;

use crate::callback;
use crate::numbers::or_absent;

/// Logs a warning the first time. Errors of the program's own handlers are dropped; Ctrl-C is not.
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
