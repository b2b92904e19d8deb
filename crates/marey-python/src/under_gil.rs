//! Values that the GIL keeps to one thread at a time.

#![allow(
    unsafe_code,
    reason = "an exclusive reference for whoever holds the GIL"
)]

use std::cell::UnsafeCell;

use pyo3::prelude::*;

/// A value that only code which holds the GIL touches.
pub(crate) struct UnderGil<T>(UnsafeCell<T>);

// SAFETY: `get` hands the value out only against a proof that the GIL is held, so one thread at a time has it.
unsafe impl<T> Sync for UnderGil<T> {}

impl<T> UnderGil<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value. Callers keep no two of these at a time, and call no Python code while they have one.
    #[expect(
        clippy::mut_from_ref,
        reason = "exclusive because of the GIL, see above"
    )]
    #[inline]
    pub(crate) fn get(&self, _py: Python<'_>) -> &mut T {
        // SAFETY: the GIL is held, and callers keep the rule above.
        unsafe { &mut *self.0.get() }
    }
}
