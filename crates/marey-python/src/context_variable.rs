//! Context variables of Python: one value for each asyncio task and each thread.

#![allow(unsafe_code, reason = "the C API of context variables")]

use std::ffi::CStr;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::once_object::OnceObject;

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
