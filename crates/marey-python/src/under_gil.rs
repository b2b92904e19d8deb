//! Values that the GIL keeps to one thread at a time.
//!
//! Python code can run, and the GIL can go to another thread, at almost every call into the interpreter; both come back to the same
//! values by another way. So nobody gets an exclusive reference: what lies here is read, written or exchanged whole, by cells.

#![allow(unsafe_code, reason = "shared by threads that hold the GIL one after the other")]

use std::cell::UnsafeCell;

use pyo3::prelude::*;

/// A value that only code which holds the GIL touches.
pub(crate) struct UnderGil<T>(T);

// SAFETY: `get` hands the value out only against a proof that the GIL is held, so threads have it one after the other, and the GIL
// orders what they do. What is not `Sync` cannot be taken along to where the GIL is let go of (`Python::detach`).
unsafe impl<T: Send> Sync for UnderGil<T> {}

impl<T> UnderGil<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for as long as the GIL is held.
    #[inline]
    pub(crate) fn get<'py>(&'py self, _py: Python<'py>) -> &'py T {
        &self.0
    }
}

/// A stack of plain values, used through shared references.
pub(crate) struct Stack<T: Copy>(UnsafeCell<Vec<T>>);

impl<T: Copy> Stack<T> {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(Vec::new()))
    }

    #[inline]
    pub(crate) fn push(&self, value: T) {
        // SAFETY: one thread at a time has a stack (it is not `Sync`), and no reference into it outlives a function here; a plain value
        // runs no code when it is copied.
        unsafe { &mut *self.0.get() }.push(value);
    }

    #[inline]
    pub(crate) fn pop(&self) -> Option<T> {
        // SAFETY: as above.
        unsafe { &mut *self.0.get() }.pop()
    }

    /// The value at a place, the oldest at 0.
    pub(crate) fn at(&self, place: usize) -> Option<T> {
        // SAFETY: as above.
        unsafe { &*self.0.get() }.get(place).copied()
    }

    pub(crate) fn len(&self) -> usize {
        // SAFETY: as above.
        unsafe { &*self.0.get() }.len()
    }
}
