//! Greenlets (gevent, eventlet): several stacks that take turns on one thread, which Python itself knows nothing of.

#![allow(unsafe_code, reason = "`sys.modules` without running any code")]

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callback;
use crate::dropped_error::drop_error;

/// A greenlet runs, and not the thread's first one, in which all code runs that knows of no greenlets. Costs a look into `sys.modules`.
pub(crate) fn is_inside(py: Python<'_>) -> bool {
    let asked = || -> PyResult<bool> {
        // SAFETY: the GIL is held; a borrowed reference.
        let modules = unsafe { ffi::PyImport_GetModuleDict() };
        // SAFETY: as above.
        let modules = unsafe { Bound::from_borrowed_ptr(py, modules) };
        let Some(greenlet) = modules.cast::<PyDict>()?.get_item("greenlet")? else {
            return Ok(false);
        };
        let running = callback::method(&greenlet, "getcurrent", ())?;
        Ok(!running.getattr("parent")?.is_none())
    };
    asked().unwrap_or_else(|error| {
        drop_error(py, &error);
        false
    })
}
