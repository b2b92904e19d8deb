//! Requests for windows of torch's profiler, on their way to `marey.windows.requests`.

use std::ffi::{OsString, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use crate::callback;

/// The main thread has not come by since it was called.
static IS_CALLED: AtomicBool = AtomicBool::new(false);

/// Somebody outside asks for a window.
#[pyfunction]
pub(crate) fn is_window_asked_for() -> bool {
    marey::recorder().is_some_and(marey::Recorder::is_window_asked_for)
}

/// Takes that request: the folder with what is asked for; None where there is none, or somebody else has taken it.
#[pyfunction]
pub(crate) fn take_window_request() -> Option<OsString> {
    Some(marey::recorder()?.take_window_request()?.into_os_string())
}

/// Has the main thread call `marey.windows.requests.hear()` between two of its instructions. Any thread may call this, without the GIL.
#[pyfunction]
pub(crate) fn wake_main_thread() {
    if !IS_CALLED.swap(true, Relaxed) && !callback::in_main_thread(hear) {
        IS_CALLED.store(false, Relaxed);
    }
}

extern "C" fn hear(_nothing: *mut c_void) -> c_int {
    IS_CALLED.store(false, Relaxed);
    if !callback::is_in_main_interpreter() {
        return 0;
    }
    let heard = Python::try_attach(|py| {
        let requests = callback::import(py, "marey.windows.requests");
        let hear = match requests.and_then(|requests| callback::attribute(&requests, "hear")) {
            // This very thread is importing it, for a step that takes the request.
            Err(error) if error.is_instance_of::<PyException>(py) => return Ok(()),
            hear => hear?,
        };
        callback::call(&hear, ()).map(drop)
    });
    match heard {
        // A handler of signals raised it meanwhile: it is the program's.
        Some(Err(error)) => {
            Python::attach(|py| error.restore(py));
            -1
        }
        _ => 0,
    }
}
