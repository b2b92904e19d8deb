//! Lets Marey's thread rest while the program forks: Python warns of a fork in a process with threads, and would mean this one.
//!
//! ```text
//! Python 3.12   before_fork · fork · warning? · after_fork
//! Python 3.13   before_fork · fork · after_fork · warning? · next bytecode
//! ```

#![allow(unsafe_code, reason = "a pending call of the interpreter")]

use std::ffi::{c_int, c_void};
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::guarded::guarded;

/// Ends the thread.
#[pyfunction]
pub(crate) fn before_fork(py: Python<'_>) {
    if let Some(recorder) = marey::recorder() {
        py.detach(|| recorder.pause_drain());
    }
}

/// Starts the thread again: with the next bytecode if the main thread has forked, because only that one runs pending calls, else now.
#[pyfunction]
pub(crate) fn after_fork(is_main_thread: bool) {
    // SAFETY: a function that needs no argument and can be called at any time.
    let is_pending =
        is_main_thread && unsafe { ffi::Py_AddPendingCall(Some(resume), ptr::null_mut()) } == 0;
    if !is_pending {
        resume(ptr::null_mut());
    }
}

extern "C" fn resume(_: *mut c_void) -> c_int {
    guarded(|| {
        if let Some(recorder) = marey::recorder() {
            recorder.resume_drain();
        }
    });
    0
}
