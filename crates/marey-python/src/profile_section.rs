//! The entry `profile_section(name, enabled=True, *, sync=False, **attributes)`.

#![allow(unsafe_code, reason = "a builtin without PyO3's argument parsing")]

use std::ptr;

use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attributes;
use crate::callback;
use crate::guarded::guarded;
use crate::names::section_id_of;
use crate::open_section::SectionMeta;
use crate::plain_section::PlainSection;
use crate::section_pool::{no_section, section, section_watched, section_with};
use crate::{section_mode, section_watch};

const DOC: &std::ffi::CStr = c"profile_section(name, enabled=True, *, sync=False, **attributes)\n--\n\n\
Record the time that a `with` block takes, under a name.\n\n\
Sections nest. `enabled=False` makes it do nothing. `sync=True` waits for the GPU at both ends,\n\
which changes what is measured; reports show where it was used. Other keywords are kept as attributes.\n\
The same object may be entered again. Costs about 45 ns without keywords, about 1 us with attributes.";

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
    // SAFETY: the arguments as the interpreter gave them.
    let given = unsafe { Arguments::new(py, args, n, names) };
    match given.and_then(|given| guarded(|| Some(given.open(py))).unwrap_or_else(|| no_section(py)))
    {
        Ok(section) => section.into_ptr(),
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

struct Arguments<'py> {
    name: Bound<'py, PyAny>,
    is_enabled: bool,
    is_sync: bool,
    attributes: Bound<'py, PyDict>,
}

impl<'py> Arguments<'py> {
    /// Sorts positional arguments and keywords.
    #[cold]
    unsafe fn new(
        py: Python<'py>,
        args: *const *mut ffi::PyObject,
        n: ffi::Py_ssize_t,
        names: *mut ffi::PyObject,
    ) -> PyResult<Self> {
        let n = usize::try_from(n).unwrap_or(0);
        let argument = |i: usize| {
            // SAFETY: `args` holds the positional arguments and, behind them, one value for each name.
            let place = unsafe { args.add(i) };
            // SAFETY: as above.
            let value = unsafe { *place };
            // SAFETY: a live object.
            unsafe { Bound::from_borrowed_ptr(py, value) }
        };
        let keywords = PyDict::new(py);
        // SAFETY: null or a live tuple.
        if let Some(names) = unsafe { Bound::from_borrowed_ptr_or_opt(py, names) } {
            for (i, name) in names.cast_into::<PyTuple>()?.iter().enumerate() {
                keywords.set_item(name, argument(n + i))?;
            }
        }
        let take = |key: &str, position: usize| -> PyResult<Option<Bound<'py, PyAny>>> {
            let by_name = keywords.get_item(key)?;
            if by_name.is_some() {
                keywords.del_item(key)?;
            }
            if by_name.is_some() && n > position {
                let text = format!("profile_section() got multiple values for argument '{key}'");
                return Err(PyTypeError::new_err(text));
            }
            Ok(by_name.or_else(|| (n > position).then(|| argument(position))))
        };
        if n > 2 {
            let text = format!(
                "profile_section() takes from 1 to 2 positional arguments but {n} were given"
            );
            return Err(PyTypeError::new_err(text));
        }
        let missing = || {
            PyTypeError::new_err("profile_section() missing 1 required positional argument: 'name'")
        };
        // What has no truth (an array of several elements) is as if it had not been given.
        let truth = |given: Option<Bound<'py, PyAny>>, default| {
            given.map_or(default, |value| callback::is_true(&value).unwrap_or(default))
        };
        Ok(Self {
            name: take("name", 0)?.ok_or_else(missing)?,
            is_enabled: truth(take("enabled", 1)?, true),
            is_sync: truth(take("sync", usize::MAX)?, false),
            attributes: keywords,
        })
    }

    fn open(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if !self.is_enabled || crate::state::recorder().is_none() {
            return no_section(py);
        }
        let mut attributes = attributes::from_dict(Some(&self.attributes));
        if self.is_sync {
            attributes.push(("sync".into(), true.into()));
        }
        open(py, &self.name, attributes.into(), self.is_sync)
    }
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
                section_watch::look(py);
                Ok(Bound::new(py, PlainSection::new(name, meta, is_sync))?.into_any())
            }
            None => no_section(py),
        };
    }
    let made = if !meta.is_empty() {
        section_with(py, name, meta, is_sync)
    } else if section_mode::is_watched() {
        section_watched(py, name)
    } else {
        section(py, name)
    };
    made.map_or_else(|| no_section(py), Ok)
}
