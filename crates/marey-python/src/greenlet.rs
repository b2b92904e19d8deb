//! Greenlets (gevent, eventlet): several stacks that take turns on one thread, which Python itself knows nothing of.

use pyo3::prelude::*;

/// A greenlet runs, and not the thread's first one, in which all code runs that knows of no greenlets. Costs a look into `sys.modules`.
pub(crate) fn is_inside(py: Python<'_>) -> bool {
    let asked = || -> PyResult<bool> {
        let modules = py.import("sys")?.getattr("modules")?;
        let Ok(greenlet) = modules.get_item("greenlet") else {
            return Ok(false);
        };
        let running = greenlet.call_method0("getcurrent")?;
        Ok(!running.getattr("parent")?.is_none())
    };
    asked().unwrap_or(false)
}
