//! Whether what runs can be suspended while a section is open in it, so that something else goes on in the same thread.
//!
//! ```text
//! asyncio.run ─► Context.run(task.step) ─► async def f     may be suspended: a flow of its own
//! worker of a web server ─► Context.run(handler)           returns before the worker goes on: the thread's own stack
//! ```

#![allow(unsafe_code, reason = "walks the frames of the thread")]

use pyo3::ffi;
use pyo3::prelude::*;

use crate::callback;
use crate::errors::drop_error;

/// `CO_COROUTINE`, `CO_ITERABLE_COROUTINE` and `CO_ASYNC_GENERATOR` of `inspect`.
const IS_COROUTINE: u32 = 0x80 | 0x100 | 0x200;

/// An event loop runs in the calling thread (callbacks are suspended with the generator that drives them), or a coroutine of whatever
/// library. Costs a walk through the frames down to the first coroutine.
pub(crate) fn is_suspendable(py: Python<'_>) -> bool {
    let asked = has_running_loop(py).and_then(|has| Ok(has || has_coroutine(py)?));
    asked.unwrap_or_else(|error| {
        drop_error(py, &error);
        true
    })
}

fn has_running_loop(py: Python<'_>) -> PyResult<bool> {
    let Some(asyncio) = callback::imported(py, "_asyncio")? else {
        return Ok(false);
    };
    let running = callback::method(&asyncio, "_get_running_loop", ())?;
    Ok(!running.is_none())
}

fn has_coroutine(py: Python<'_>) -> PyResult<bool> {
    // SAFETY: the GIL is held; a borrowed reference, or null when no Python code runs.
    let frame = unsafe { ffi::PyEval_GetFrame() };
    // SAFETY: as above.
    let mut next = unsafe { Bound::from_borrowed_ptr_or_opt(py, frame.cast()) };
    while let Some(frame) = next {
        // SAFETY: a live frame.
        let code = unsafe { ffi::PyFrame_GetCode(frame.as_ptr().cast()) };
        // SAFETY: a new reference.
        let code = unsafe { Bound::from_owned_ptr(py, code.cast()) };
        if code.getattr("co_flags")?.extract::<u32>()? & IS_COROUTINE != 0 {
            return Ok(true);
        }
        // SAFETY: a live frame.
        let back = unsafe { ffi::PyFrame_GetBack(frame.as_ptr().cast()) };
        // SAFETY: a new reference, or null for the outermost one.
        next = unsafe { Bound::from_owned_ptr_or_opt(py, back.cast()) };
    }
    Ok(false)
}

/// A greenlet (gevent, eventlet) runs, one of several stacks that take turns on one thread, which Python itself knows nothing of; and not the thread's first one, in which all code runs that knows of no greenlets. Costs a look into `sys.modules`.
pub(crate) fn is_in_greenlet(py: Python<'_>) -> bool {
    let asked = || -> PyResult<bool> {
        let Some(greenlet) = callback::imported(py, "greenlet")? else {
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
