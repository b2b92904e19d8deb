//! The section objects that are handed out: made in advance, each with a type of its own, and reused ([`crate::hot_section`]).

#![allow(
    unsafe_code,
    reason = "type slots of CPython, and objects that are never freed"
)]

use std::ffi::CStr;
use std::ptr::{self, NonNull};

use marey::{NameId, Slot};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::device_watch;
use crate::guarded::guarded;
use crate::hot_section::{EXTRA, Extra, Section, enter, exit, none};
use crate::names::{NameCache, section_id_of};
use crate::open_section::About;
use crate::slots;
use crate::under_gil::UnderGil;

/// Most section objects that exist at a time: that many can be open or kept.
const MAX_SECTIONS: usize = 4096;

/// References to a section that nobody holds: the pool's, and those of its two functions.
const OWN_REFERENCES: ffi::Py_ssize_t = 3;

struct Pool {
    free: Vec<*mut Section>,
    all: Vec<*mut Section>,
    names: NameCache,
}

static POOL: UnderGil<Pool> = UnderGil::new(Pool {
    free: Vec::new(),
    all: Vec::new(),
    names: NameCache::new(),
});

/// A section object for a name, to be entered with `with`: a new reference. `None` when there is none to be had; counted.
#[inline]
pub(crate) fn section<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    match POOL.get(py).names.known(name) {
        Some(id) => section_named(py, id),
        None => section_of_new_name(py, name),
    }
}

#[inline]
fn section_named(py: Python<'_>, name: NameId) -> Option<Bound<'_, PyAny>> {
    let section = take(py)?;
    // SAFETY: sections are never freed, and this one is nobody else's.
    unsafe { (*section).name = name };
    // SAFETY: a live object; this makes the caller's own reference.
    Some(unsafe { Bound::from_borrowed_ptr(py, section.cast()) })
}

/// A new name is the moment to look whether there is something to watch by now, this section first.
#[cold]
fn section_of_new_name<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> Option<Bound<'py, PyAny>> {
    let id = find_name(py, name)?;
    guarded(|| device_watch::look(py));
    let object = section_named(py, id)?;
    if device_watch::is_on() {
        // SAFETY: made by `section_named`, so it is one of ours.
        let section = unsafe { &mut *object.as_ptr().cast::<Section>() };
        section.state = EXTRA;
    }
    Some(object)
}

/// As [`section`], with attributes, a session and synchronisation.
pub(crate) fn section_with<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
    about: About,
    is_sync: bool,
) -> Option<Bound<'py, PyAny>> {
    let object = section(py, name)?;
    let extra = Box::new(Extra {
        about,
        is_sync,
        nested: Vec::new(),
    });
    // SAFETY: made by `section`, so it is one of ours.
    let section = unsafe { &mut *object.as_ptr().cast::<Section>() };
    section.extra = Some(extra);
    section.state = EXTRA;
    Some(object)
}

/// As [`section`], for one that is watched: it does not take the fast path.
#[cold]
pub(crate) fn section_watched<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
) -> Option<Bound<'py, PyAny>> {
    let object = section(py, name)?;
    // SAFETY: made by `section`, so it is one of ours.
    let section = unsafe { &mut *object.as_ptr().cast::<Section>() };
    section.state = EXTRA;
    Some(object)
}

/// Puts a section back that is no longer open.
#[inline]
pub(crate) fn give(py: Python<'_>, section: *mut Section) {
    POOL.get(py).free.push(section);
}

/// Makes every name be looked up again.
pub(crate) fn forget_names(py: Python<'_>) {
    POOL.get(py).names = NameCache::new();
}

#[cold]
fn find_name(py: Python<'_>, name: &Bound<'_, PyAny>) -> Option<NameId> {
    let id = guarded(|| section_id_of(name))?;
    POOL.get(py).names.keep(name, id);
    Some(id)
}

/// A section that nobody holds and that is not open, without its old extras.
#[inline]
fn take(py: Python<'_>) -> Option<*mut Section> {
    loop {
        let section = match POOL.get(py).free.pop() {
            Some(section) => section,
            None => guarded(|| more(py).and_then(NonNull::new))?.as_ptr(),
        };
        // SAFETY: sections are never freed; the GIL makes this access exclusive.
        let s = unsafe { &mut *section };
        s.is_free = false;
        // SAFETY: a live object.
        let n_references = unsafe { ffi::Py_REFCNT(section.cast()) };
        if n_references == OWN_REFERENCES && (s.state == 0 || clear_extra(s)) {
            return Some(section);
        }
        // Somebody kept it. `more` finds it again once they let go.
    }
}

/// Takes the extras of its last call from a section; false when it is open.
#[cold]
fn clear_extra(section: &mut Section) -> bool {
    let is_closed = !section.is_open();
    if is_closed {
        section.extra = None;
        section.state = 0;
    }
    is_closed
}

/// The stack of free sections is empty: collects those that were never entered or were kept for a while, else makes new ones.
#[cold]
fn more(py: Python<'_>) -> Option<*mut Section> {
    let pool = POOL.get(py);
    for section in &pool.all {
        // SAFETY: sections are never freed; the GIL makes this access exclusive.
        let s = unsafe { &mut **section };
        // SAFETY: a live object.
        let n_references = unsafe { ffi::Py_REFCNT(section.cast()) };
        if n_references == OWN_REFERENCES && !s.is_open() && !s.is_free {
            s.is_free = true;
            pool.free.push(*section);
        }
    }
    // Few were found: make as many again, so that the search stays rare.
    let wanted = (pool.all.len() / 2).clamp(16, 512);
    while pool.free.len() < wanted && pool.all.len() < MAX_SECTIONS {
        let Ok(section) = new_section(py) else { break };
        let pool = POOL.get(py);
        pool.all.push(section);
        pool.free.push(section);
    }
    let section = POOL.get(py).free.pop();
    if section.is_none() {
        marey::recorder()?.count_unrecorded();
    }
    section
}

fn new_section(py: Python<'_>) -> PyResult<*mut Section> {
    let slot =
        slots::take(py).ok_or_else(|| pyo3::exceptions::PyMemoryError::new_err("no slot"))?;
    allocate(py, Some(slot), enter, exit)
}

/// The section that does nothing, for what is off: always the same object.
pub(crate) fn no_section(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static NO_SECTION: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
    let made = NO_SECTION.get_or_try_init(py, || {
        let section = allocate(py, None, nothing, nothing)?;
        // SAFETY: a new object; this is its one reference.
        Ok::<_, PyErr>(unsafe { Bound::from_owned_ptr(py, section.cast()) }.unbind())
    });
    made.map(|section| section.bind(py).clone())
}

unsafe extern "C" fn nothing(
    _section: *mut ffi::PyObject,
    _args: *mut *mut ffi::PyObject,
    _n: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    none()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the C API has small sizes and flags as int"
)]
fn allocate(
    py: Python<'_>,
    slot: Option<Slot>,
    enter: ffi::PyCFunctionFast,
    exit: ffi::PyCFunctionFast,
) -> PyResult<*mut Section> {
    let mut type_slots = [ffi::PyType_Slot {
        slot: 0,
        pfunc: ptr::null_mut(),
    }];
    let mut spec = ffi::PyType_Spec {
        name: c"marey.section".as_ptr(),
        basicsize: size_of::<Section>() as i32,
        itemsize: 0,
        flags: ffi::Py_TPFLAGS_DEFAULT as u32,
        slots: type_slots.as_mut_ptr(),
    };
    // SAFETY: a valid spec that outlives the call.
    let own_type = unsafe { ffi::PyType_FromSpec(&raw mut spec) };
    // SAFETY: a new reference, or null with an error set.
    let own_type = unsafe { Bound::from_owned_ptr_or_err(py, own_type)? };
    // SAFETY: a type with the size of `Section` and no garbage collection; memory comes zeroed.
    let section =
        unsafe { ffi::PyType_GenericAlloc(own_type.as_ptr().cast(), 0) }.cast::<Section>();
    if section.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: zeroed memory is a valid `Section` (no extras, not open); it is never freed.
    let s = unsafe { &mut *section };
    s.slot = slot;
    s.path = (u64::MAX, 0);
    s.is_free = true;
    own_type.setattr("__enter__", bound(py, c"__enter__", enter, section)?)?;
    own_type.setattr("__exit__", bound(py, c"__exit__", exit, section)?)?;
    own_type.setattr("__module__", "marey")?;
    Ok(section)
}

/// A builtin function that knows its section. It has no `tp_descr_get`, so the interpreter calls it as it finds it.
fn bound<'py>(
    py: Python<'py>,
    name: &'static CStr,
    call: ffi::PyCFunctionFast,
    section: *mut Section,
) -> PyResult<Bound<'py, PyAny>> {
    // CPython keeps the pointer.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer {
            PyCFunctionFast: call,
        },
        ml_flags: ffi::METH_FASTCALL,
        ml_doc: ptr::null(),
    }));
    // SAFETY: a definition that lives for ever, and a live object of which the function keeps a reference.
    let function = unsafe { ffi::PyCFunction_NewEx(definition, section.cast(), ptr::null_mut()) };
    // SAFETY: a new reference, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(py, function) }
}
