//! The context pointer of the thread state: which context the calling thread runs in.
//!
//! Where that pointer lies differs between versions of CPython; it is found at import by entering two known contexts and looking where
//! they appear.

#![allow(unsafe_code, reason = "reads the context pointer of the thread state")]
#![expect(clippy::inline_always, reason = "every recorded section does this")]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Offset of the context pointer in the thread state; 0 before it was found.
static CONTEXT_OFFSET: AtomicUsize = AtomicUsize::new(0);
/// Beyond this nothing is looked at; in CPython 3.10 to 3.13 it lies below 300.
const MAX_OFFSET: usize = 320;

/// It is known where the context pointer lies.
pub(crate) fn is_found() -> bool {
    CONTEXT_OFFSET.load(Relaxed) != 0
}

/// Address of the context that the calling thread runs in; 0 for none. Any number where it [`is_found`] nowhere.
#[inline(always)]
pub(crate) fn context_address(_py: Python<'_>) -> usize {
    // SAFETY: the GIL is held, so there is a thread state.
    let state = unsafe { ffi::PyThreadState_Get() };
    // SAFETY: `find_context_offset` saw context pointers at this offset, so it lies in the thread state.
    let place = unsafe { state.byte_add(CONTEXT_OFFSET.load(Relaxed)) };
    // SAFETY: as above, and it is aligned.
    unsafe { *place.cast::<usize>() }
}

/// Finds the offset of the context pointer; an error leaves the fast section objects unused.
pub(crate) fn find_context_offset(py: Python<'_>) -> PyResult<()> {
    if is_found() {
        return Ok(());
    }
    let found = (offset_of_new_context(py)?, offset_of_new_context(py)?);
    match found {
        (Some(a), Some(b)) if a == b => {
            CONTEXT_OFFSET.store(a, Relaxed);
            Ok(())
        }
        _ => Err(PyRuntimeError::new_err(
            "the thread state of this Python has no context where it was looked for",
        )),
    }
}

/// Enters a fresh context and looks where its address appears in the thread state.
fn offset_of_new_context(py: Python<'_>) -> PyResult<Option<usize>> {
    // SAFETY: plain C API under the GIL.
    let context = unsafe { ffi::PyContext_New() };
    // SAFETY: a new reference, or null with an error set.
    let context = unsafe { Bound::from_owned_ptr_or_err(py, context)? };
    // SAFETY: a live context of ours that nobody entered.
    if unsafe { ffi::PyContext_Enter(context.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: the GIL is held.
    let state = unsafe { ffi::PyThreadState_Get() };
    // A thread state is several hundred bytes in every version, and the first match ends the search.
    let found = (8..MAX_OFFSET).step_by(8).find(|offset| {
        // SAFETY: within the thread state, as said above.
        let place = unsafe { state.byte_add(*offset) };
        // SAFETY: as above, and it is aligned.
        let word = unsafe { *place.cast::<usize>() };
        word == context.as_ptr() as usize
    });
    // SAFETY: entered above.
    unsafe { ffi::PyContext_Exit(context.as_ptr()) };
    Ok(found)
}
