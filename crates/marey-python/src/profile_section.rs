//! The entry `profile_section(name, enabled=True, *, sync=False, **attributes)`.

#![allow(unsafe_code, reason = "a builtin without PyO3's argument parsing")]

use std::ptr;

use pyo3::Borrowed;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};

use crate::attributes;
use crate::callback;
use crate::guarded::guarded;
use crate::names::section_id_of;
use crate::once_object::OnceObject;
use crate::open_section::SectionMeta;
use crate::plain_section::PlainSection;
use crate::section_pool::{no_section, section, slow_section};
use crate::{device_watch, section_mode};

const DOC: &std::ffi::CStr = c"profile_section(name, enabled=True, *, sync=False, **attributes)\n--\n\n\
Record the time that a `with` block takes, under a name.\n\n\
Sections nest. `enabled=False` makes it do nothing. `sync=True` waits for the GPU at both ends,\n\
which changes what is measured; reports show where it was used. Other keywords are kept as attributes.\n\
The same object may be entered again. Costs about 45 ns without keywords, about 1 us with attributes.";

/// [`open_given`], as Python has it.
static WITH_ANYTHING: OnceObject<PyCFunction> = OnceObject::new();

/// The builtin, for the module.
pub(crate) fn builtin(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: c"profile_section".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: profile_section },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: DOC.as_ptr(),
    }));
    let module = pyo3::types::PyString::new(py, "marey");
    // SAFETY: a definition that lives for ever.
    let function = unsafe { ffi::PyCFunction_NewEx(definition, ptr::null_mut(), module.as_ptr()) };
    // SAFETY: a new reference, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(py, function) }
}

unsafe extern "C" fn profile_section(
    _module: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    n: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    if n == 1 && names.is_null() && marey::is_on() && section_mode::is_direct() {
        // SAFETY: there is one argument.
        let name = unsafe { *args };
        // SAFETY: a live object, for as long as this call.
        let name = unsafe { Borrowed::from_ptr(py, name) };
        if let Some(section) = section(py, &name) {
            return section.into_ptr();
        }
        if let Ok(section) = no_section(py) {
            return section.into_ptr();
        }
    } else if ((n == 1 && names.is_null() && crate::state::is_off_for_good())
        // SAFETY: the arguments as the interpreter gave them.
        || unsafe { is_disabled(args, n, names) })
        && let Ok(section) = no_section(py)
    {
        return section.into_ptr();
    }
    let make = || wrap_pyfunction!(open_given, py).map(Bound::unbind);
    match WITH_ANYTHING.get_or_make(py, make) {
        Ok(function) => {
            let n = n.cast_unsigned();
            // SAFETY: a live function, and the arguments as the interpreter gave them.
            unsafe { ffi::PyObject_Vectorcall(function.as_ptr(), args, n, names) }
        }
        Err(error) => {
            error.restore(py);
            ptr::null_mut()
        }
    }
}

/// Whether there are two arguments, of which the second is `False` and stands for `enabled`.
///
/// # Safety
/// The arguments as the interpreter gives them to a function.
unsafe fn is_disabled(
    args: *const *mut ffi::PyObject,
    n: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> bool {
    let n_keywords = if names.is_null() {
        0
    } else {
        // SAFETY: a live tuple.
        unsafe { ffi::PyTuple_GET_SIZE(names) }
    };
    if n + n_keywords != 2 || n == 0 {
        return false;
    }
    // SAFETY: there are two values, positional or of keywords.
    let second = unsafe { args.add(1) };
    // SAFETY: as above.
    let second = unsafe { *second };
    // SAFETY: `False` always exists.
    if !ptr::eq(second, unsafe { ffi::Py_False() }) {
        return false;
    }
    if n == 2 {
        return true;
    }
    // SAFETY: a live tuple of one keyword.
    let name = unsafe { ffi::PyTuple_GET_ITEM(names, 0) };
    // SAFETY: keywords are strings; the other text is static.
    unsafe { ffi::PyUnicode_CompareWithASCIIString(name, c"enabled".as_ptr()) == 0 }
}

/// With whatever else it may be given.
#[pyfunction]
#[pyo3(name = "profile_section", signature = (name, enabled=None, *, sync=None, **attributes))]
fn open_given<'py>(
    name: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = truth)] enabled: Option<bool>,
    #[pyo3(from_py_with = truth)] sync: Option<bool>,
    attributes: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let made = guarded(|| {
        if !enabled.unwrap_or(true) || crate::state::recorder().is_none() {
            return None;
        }
        let is_sync = sync.unwrap_or(false);
        let mut attributes = attributes::from_dict(attributes);
        if is_sync {
            attributes.push(("sync".into(), true.into()));
        }
        open(name.py(), name, attributes.into(), is_sync).ok()
    });
    made.map_or_else(|| no_section(name.py()), Ok)
}

/// What has no truth (an array of several elements) is as if it had not been given.
#[expect(clippy::unnecessary_wraps, reason = "as arguments are converted")]
fn truth(given: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    Ok(callback::is_true(given).ok())
}

/// A section to be entered with `with`; the one that does nothing when it cannot be recorded.
pub(crate) fn open<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
    meta: SectionMeta,
    is_sync: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if !section_mode::is_fast() {
        return match section_id_of(name) {
            Some(name) => {
                device_watch::look(py);
                Ok(Bound::new(py, PlainSection::new(name, meta, is_sync))?.into_any())
            }
            None => no_section(py),
        };
    }
    let made = if meta.is_empty() && !section_mode::is_watched() {
        section(py, name)
    } else {
        slow_section(py, name, meta, is_sync)
    };
    made.map_or_else(|| no_section(py), Ok)
}
