//! What is known of a Python string, by its address, without hashing it again.

use std::cell::Cell;

use marey::NameId;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::under_gil::UnderGil;

/// Numbers of the names of sections: what the fast path looks into.
static SECTIONS: UnderGil<KnownNames<NameId, 256>> = UnderGil::new(KnownNames::new());

/// A cache by the address of the `str` object. Each entry owns a reference to its string: a freed string's address would match another
/// name.
pub(crate) struct KnownNames<V: Copy, const N: usize> {
    /// Address, 0 for none, and what is known.
    entries: [(Cell<usize>, Cell<Option<V>>); N],
    strings: [Cell<Option<Py<PyAny>>>; N],
}

impl<V: Copy, const N: usize> KnownNames<V, N> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: [const { (Cell::new(0), Cell::new(None)) }; N],
            strings: [const { Cell::new(None) }; N],
        }
    }

    /// What is kept of a name that was seen as this very object.
    #[inline]
    pub(crate) fn get(&self, name: &Bound<'_, PyAny>) -> Option<V> {
        let (address, value) = &self.entries[Self::place(name.as_ptr())];
        if address.get() == name.as_ptr() as usize { value.get() } else { None }
    }

    /// Keeps something of a name. Only of a plain string: that one does not change.
    pub(crate) fn keep(&self, name: &Bound<'_, PyAny>, value: V) {
        if name.is_exact_instance_of::<PyString>() {
            let place = Self::place(name.as_ptr());
            let (address, kept) = &self.entries[place];
            address.set(name.as_ptr() as usize);
            kept.set(Some(value));
            if let Some(old) = self.strings[place].replace(Some(name.clone().unbind())) {
                // Let go of at once: what is dropped unbound on the fast path waits for the next call that comes by PyO3's own ways.
                drop(old.into_bound(name.py()));
            }
        }
    }

    /// Makes every name be looked up again.
    pub(crate) fn clear(&self) {
        for ((address, _), string) in self.entries.iter().zip(&self.strings) {
            address.set(0);
            string.set(None);
        }
    }

    #[inline]
    fn place(object: *mut ffi::PyObject) -> usize {
        (object as usize >> 4) % N
    }
}

/// The number of a section's name that was seen as this very object, and is recorded.
#[inline]
pub(crate) fn section_name(name: &Bound<'_, PyAny>) -> Option<NameId> {
    SECTIONS.get(name.py()).get(name)
}

/// Keeps the number of a section's name.
pub(crate) fn keep_section_name(name: &Bound<'_, PyAny>, id: NameId) {
    SECTIONS.get(name.py()).keep(name, id);
}

/// Makes every name of a section be looked up again.
pub(crate) fn forget_section_names(py: Python<'_>) {
    SECTIONS.get(py).clear();
}
