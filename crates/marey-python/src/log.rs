//! What a user should know once: a line in Python's own log, which goes to stderr where a program has not set up logging.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::prelude::*;

use crate::numbers::or_absent;

/// Logs a warning the first time. Errors of the program's own handlers are dropped; Ctrl-C is not.
pub(crate) fn warn_once(py: Python<'_>, was_said: &AtomicBool, text: &str) -> PyResult<()> {
    if was_said.swap(true, Relaxed) {
        return Ok(());
    }
    or_absent(py, warn(py, text)).map(|_| ())
}

fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let log = py
        .import("logging")?
        .call_method1("getLogger", ("marey",))?;
    log.call_method1("warning", ("%s", text)).map(|_| ())
}
