//! The section objects that are handed out: made in advance, each with a type of its own, and reused ([`crate::fast_section`]).

#![allow(unsafe_code, reason = "type slots of CPython, and objects that are never freed")]

use std::ffi::{CStr, c_void};
use std::ptr;

use marey::{NameId, Slot};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::fast_section::{EXTRA, Extra, Section, enter, exit, none};
use crate::guarded::guarded;
use crate::known_names::{keep_section_name, section_name};
use crate::names::section_id_of;
use crate::once_object::OnceObject;
use crate::open_section::SectionMeta;
use crate::paused_section::decorated;
use crate::under_gil::{Stack, UnderGil};
use crate::{device_watch, section_mode, slots};

/// Most section objects that exist at a time: that many can be open or kept.
const MAX_SECTIONS: usize = 4096;

/// References to a section that nobody holds: the pool's, and those of its two functions.
const OWN_REFERENCES: ffi::Py_ssize_t = 3;

struct Pool {
    free: Stack<&'static Section>,
    all: Stack<&'static Section>,
}

static POOL: UnderGil<Pool> = UnderGil::new(Pool { free: Stack::new(), all: Stack::new() });

/// A section object for a name, to be entered with `with`: a new reference. `None` when there is none to be had; counted.
#[inline]
pub(crate) fn section<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let section = match section_name(name) {
        Some(id) => section_named(py, id),
        None => section_of_new_name(py, name),
    }?;
    // SAFETY: a live object; this makes the caller's own reference.
    Some(unsafe { Bound::from_borrowed_ptr(py, section.as_ptr()) })
}

/// As [`section`], for one that is watched, or has attributes, a session or synchronisation: it does not take the fast path.
#[cold]
pub(crate) fn slow_section<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
    meta: SectionMeta,
    is_sync: bool,
) -> Option<Bound<'py, PyAny>> {
    let object = section(py, name)?;
    // SAFETY: made by `section`, so it is one of the pool.
    let section = unsafe { Section::of(object.as_ptr()) };
    let has_extra = !meta.is_empty();
    section.extra.set(has_extra.then(|| Box::new(Extra { meta, is_sync, nested: Vec::new() })));
    section.state.set(EXTRA);
    Some(object)
}

#[inline]
fn section_named(py: Python<'_>, name: NameId) -> Option<&'static Section> {
    let section = take(py)?;
    section.name.set(name);
    Some(section)
}

/// A new name is the moment to look whether there is something to watch by now, this section first.
#[cold]
fn section_of_new_name(py: Python<'_>, name: &Bound<'_, PyAny>) -> Option<&'static Section> {
    let id = guarded(|| section_id_of(name))?;
    keep_section_name(name, id);
    guarded(|| device_watch::look(py));
    let section = section_named(py, id)?;
    if section_mode::is_watched() {
        section.state.set(EXTRA);
    }
    Some(section)
}

/// `__exit__`, which puts a section back that is no longer open.
unsafe extern "C" fn exit_and_give(
    section: *mut ffi::PyObject,
    args: *mut *mut ffi::PyObject,
    n: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: only functions made for a section have this one; as above.
    let section = unsafe { Section::of(section) };
    // SAFETY: the arguments as the interpreter gave them.
    if unsafe { exit(py, section, args, n) } {
        section.is_free.set(true);
        POOL.get(py).free.push(section);
    }
    none(py)
}

/// A section that nobody holds and that is not open, without its old extras.
#[inline]
fn take(py: Python<'_>) -> Option<&'static Section> {
    loop {
        let section = match POOL.get(py).free.pop() {
            Some(section) => section,
            None => guarded(|| more(py))?,
        };
        section.is_free.set(false);
        if is_unused(section) && (section.state.get() == 0 || clear_extra(section)) {
            return Some(section);
        }
        // Somebody kept it. `more` finds it again once they let go.
    }
}

/// Nobody holds it.
#[inline]
fn is_unused(section: &Section) -> bool {
    // SAFETY: a live object.
    let n_references = unsafe { ffi::Py_REFCNT(section.as_ptr()) };
    n_references == OWN_REFERENCES
}

/// Takes the extras of its last call from a section; false when it is open.
#[cold]
fn clear_extra(section: &Section) -> bool {
    let is_closed = !section.is_open();
    if is_closed {
        section.state.set(0);
        section.extra.set(None);
    }
    is_closed
}

/// The stack of free sections is empty: collects those that were never entered or were kept for a while, else makes new ones.
#[cold]
fn more(py: Python<'_>) -> Option<&'static Section> {
    let pool = POOL.get(py);
    for section in (0..pool.all.len()).filter_map(|place| pool.all.at(place)) {
        if is_unused(section) && !section.is_open() && !section.is_free.get() {
            section.is_free.set(true);
            pool.free.push(section);
        }
    }
    // Few were found: make as many again, so that the search stays rare. Making one runs code of the program (the garbage
    // collector's), which takes and gives sections, too.
    let wanted = (pool.all.len() / 2).clamp(16, 512);
    while pool.free.len() < wanted && pool.all.len() < MAX_SECTIONS {
        let Ok(section) = new_section(py) else { break };
        pool.all.push(section);
        pool.free.push(section);
    }
    let section = pool.free.pop();
    if section.is_none() {
        marey::recorder()?.count_unrecorded();
    }
    section
}

fn new_section(py: Python<'_>) -> PyResult<&'static Section> {
    let slot =
        slots::take(py).ok_or_else(|| pyo3::exceptions::PyMemoryError::new_err("no slot"))?;
    allocate(py, Some(slot), enter, exit_and_give)
}

/// The section that does nothing, for what is off: always the same object.
pub(crate) fn no_section(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static NO_SECTION: OnceObject<PyAny> = OnceObject::new();
    let made = NO_SECTION.get_or_make(py, || {
        let section = allocate(py, None, nothing, nothing)?;
        // SAFETY: a new object; this is its one reference.
        Ok(unsafe { Bound::from_owned_ptr(py, section.as_ptr()) }.unbind())
    });
    made.cloned()
}

unsafe extern "C" fn nothing(
    _section: *mut ffi::PyObject,
    _args: *mut *mut ffi::PyObject,
    _n: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    none(unsafe { Python::assume_attached() })
}

/// `profile_section("name")(function)`, as a decorator calls it.
unsafe extern "C" fn decorate(
    object: *mut ffi::PyObject,
    args: *mut ffi::PyObject,
    _keywords: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: only sections have this function.
    let section = unsafe { Section::of(object) };
    // SAFETY: a live object.
    let object = unsafe { Bound::from_borrowed_ptr(py, object) };
    // SAFETY: a live tuple.
    let args = unsafe { Bound::from_borrowed_ptr(py, args) };
    let name = section.slot.get().map(|_| section.name.get());
    let (meta, is_sync) = section.meta_and_sync();
    match decorated(&object, &args, name, meta, is_sync) {
        Ok(function) => function.into_ptr(),
        Err(error) => {
            error.restore(py);
            ptr::null_mut()
        }
    }
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
) -> PyResult<&'static Section> {
    let mut type_slots = [
        ffi::PyType_Slot { slot: ffi::Py_tp_call, pfunc: decorate as *mut c_void },
        ffi::PyType_Slot { slot: 0, pfunc: ptr::null_mut() },
    ];
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
    let section = unsafe { ffi::PyType_GenericAlloc(own_type.as_ptr().cast(), 0) };
    if section.is_null() {
        return Err(PyErr::fetch(py));
    }
    // SAFETY: zeroed memory is a valid `Section` (no extras, not open); it is never freed.
    let section = unsafe { Section::of(section) };
    section.slot.set(slot);
    section.path.set((u64::MAX, 0));
    section.is_free.set(true);
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
    section: &Section,
) -> PyResult<Bound<'py, PyAny>> {
    // CPython keeps the pointer.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFast: call },
        ml_flags: ffi::METH_FASTCALL,
        ml_doc: ptr::null(),
    }));
    // SAFETY: a definition that lives for ever, and a live object of which the function keeps a reference.
    let function = unsafe { ffi::PyCFunction_NewEx(definition, section.as_ptr(), ptr::null_mut()) };
    // SAFETY: a new reference, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(py, function) }
}
