//! Contexts of Python: which one the calling thread runs in, by the context pointer of the thread state, and variables that have one value
//! for each asyncio task and each thread.
//!
//! Where that pointer lies differs between versions of CPython; it is found at import by entering two known contexts and looking where
//! they appear.

#![allow(
    unsafe_code,
    reason = "the context pointer of the thread state, and the C API of context variables"
)]
#![expect(clippy::inline_always, reason = "every recorded section does this")]

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::once_object::OnceObject;

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

/// A context variable of our own, made with its first use. It holds objects of one class, or `None` for nothing: a context variable
/// cannot be unset without its token.
pub(crate) struct ContextVariable {
    name: &'static CStr,
    object: OnceObject<PyAny>,
}

impl ContextVariable {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self { name, object: OnceObject::new() }
    }

    /// The value in the running context; `None` where it was never set, there and in the context that this one is a copy of.
    pub(crate) fn get<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let mut value = std::ptr::null_mut();
        let variable = self.object(py)?.as_ptr();
        // SAFETY: a context variable of ours, and a valid place for the result, which is a new reference or null.
        unsafe { ffi::PyContextVar_Get(variable, std::ptr::null_mut(), &raw mut value) };
        // SAFETY: see above.
        unsafe { Bound::from_owned_ptr_or_opt(py, value) }
    }

    /// Sets the value in the running context.
    pub(crate) fn set(&self, py: Python<'_>, value: &Py<PyAny>) {
        let Some(variable) = self.object(py) else {
            return;
        };
        // SAFETY: live objects under the GIL; the token is a new reference that is dropped.
        let token = unsafe { ffi::PyContextVar_Set(variable.as_ptr(), value.as_ptr()) };
        // SAFETY: as above.
        let token = unsafe { Bound::from_owned_ptr_or_opt(py, token) };
        if token.is_none() {
            // SAFETY: the GIL is held; the error is the one just raised (no memory).
            unsafe { ffi::PyErr_Clear() };
        }
    }

    /// Gives the caller a context of its own where it runs in none; nothing stays in it.
    pub(crate) fn make_context(&self, py: Python<'_>) {
        let Some(variable) = self.object(py).map(Bound::as_ptr) else {
            return;
        };
        // SAFETY: live objects under the GIL.
        let token = unsafe { ffi::PyContextVar_Set(variable, py.None().as_ptr()) };
        // SAFETY: a new reference, or null.
        if let Some(token) = unsafe { Bound::from_owned_ptr_or_opt(py, token) } {
            // SAFETY: the token of this variable, from this context.
            unsafe { ffi::PyContextVar_Reset(variable, token.as_ptr()) };
        } else {
            // SAFETY: the GIL is held; the error is the one just raised (no memory).
            unsafe { ffi::PyErr_Clear() };
        }
    }

    fn object<'py>(&self, py: Python<'py>) -> Option<&Bound<'py, PyAny>> {
        let made = self.object.get_or_make(py, || {
            // SAFETY: a text that lives as long as the call, and no default.
            let made = unsafe { ffi::PyContextVar_New(self.name.as_ptr(), std::ptr::null_mut()) };
            // SAFETY: a new reference, or null with an error set.
            unsafe { Bound::from_owned_ptr_or_err(py, made) }.map(Bound::unbind)
        });
        made.ok()
    }
}
