//! Calls of the program's own Python code, which may take long, and may be where its thread ends.
//!
//! A daemon thread that comes back to an interpreter that has ended is ended by CPython before 3.14: `pthread_exit` unwinds its stack, which
//! no frame of Rust allows. So the frame below stops it, and the thread waits for the end of the process, as from 3.14 on CPython lets it.
//!
//! ```text
//! thread   event(x=Value()) ─► Rust ─► repr ─► Value.__repr__ sleeps ──────────┐ unwound up to the frame of `stopping`, where it stays
//! main                                            the interpreter ends ─► exit ─┴─────► the process is gone
//! ```

#![allow(unsafe_code, reason = "functions of CPython, declared as what may unwind")]

use std::ffi::{c_double, c_int, c_void};
use std::time::Duration;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

// Declared by `pyo3::ffi`, too, but as what always returns.
unsafe extern "C-unwind" {
    fn PyDict_Update(a: *mut ffi::PyObject, b: *mut ffi::PyObject) -> c_int;
    fn PyFloat_AsDouble(object: *mut ffi::PyObject) -> c_double;
    fn PyImport_Import(name: *mut ffi::PyObject) -> *mut ffi::PyObject;
    fn PyNumber_Index(object: *mut ffi::PyObject) -> *mut ffi::PyObject;
    fn PyObject_Call(
        callable: *mut ffi::PyObject,
        arguments: *mut ffi::PyObject,
        keywords: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
    fn PyObject_GetAttr(object: *mut ffi::PyObject, name: *mut ffi::PyObject)
    -> *mut ffi::PyObject;
    fn PyObject_IsInstance(object: *mut ffi::PyObject, class: *mut ffi::PyObject) -> c_int;
    fn PyObject_IsTrue(object: *mut ffi::PyObject) -> c_int;
    fn PyObject_Repr(object: *mut ffi::PyObject) -> *mut ffi::PyObject;
    fn PyObject_Str(object: *mut ffi::PyObject) -> *mut ffi::PyObject;
}

/// A frame that no unwinding leaves.
struct Stop;

impl Drop for Stop {
    fn drop(&mut self) {
        loop {
            std::thread::sleep(Duration::from_hours(1));
        }
    }
}

/// What a call returns; a thread that is ended in it stays here.
#[inline]
fn stopping<T>(call: impl FnOnce() -> T) -> T {
    let stop = Stop;
    let returned = call();
    std::mem::forget(stop);
    returned
}

/// The object that a call returns, which is a new reference, or the error that it set.
fn object(py: Python<'_>, call: impl FnOnce() -> *mut ffi::PyObject) -> PyResult<Bound<'_, PyAny>> {
    let returned = stopping(call);
    // SAFETY: the functions above return a new reference, or null with an error set; only they are called here.
    unsafe { Bound::from_owned_ptr_or_err(py, returned) }
}

/// Whether a call returns more than 0; below that it has set an error.
fn truth(py: Python<'_>, call: impl FnOnce() -> c_int) -> PyResult<bool> {
    match stopping(call) {
        ..0 => Err(PyErr::fetch(py)),
        is_true => Ok(is_true > 0),
    }
}

/// `callable(*arguments)`.
pub(crate) fn call<'py, A>(
    callable: &Bound<'py, PyAny>,
    arguments: A,
) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    call_with(callable, arguments, None)
}

/// `callable(*arguments, **keywords)`.
pub(crate) fn call_with<'py, A>(
    callable: &Bound<'py, PyAny>,
    arguments: A,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    let py = callable.py();
    let arguments = arguments.into_pyobject(py)?;
    let keywords = keywords.map_or(std::ptr::null_mut(), Bound::as_ptr);
    let (callable, arguments) = (callable.as_ptr(), arguments.as_ptr());
    // SAFETY: live objects, a tuple and a dict or null; a new reference, or null.
    object(py, || unsafe { PyObject_Call(callable, arguments, keywords) })
}

/// `value.name(*arguments)`.
pub(crate) fn method<'py, A>(
    value: &Bound<'py, PyAny>,
    name: &str,
    arguments: A,
) -> PyResult<Bound<'py, PyAny>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    PyErr: From<A::Error>,
{
    call(&attribute(value, name)?, arguments)
}

/// `value.name`, which may be a property.
pub(crate) fn attribute<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let (py, name) = (value.py(), PyString::new(value.py(), name));
    let (value, name) = (value.as_ptr(), name.as_ptr());
    // SAFETY: two live objects; a new reference, or null.
    object(py, || unsafe { PyObject_GetAttr(value, name) })
}

/// `import name`: the module itself, not the package that it is in.
pub(crate) fn import<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let name = PyString::new(py, name);
    let name = name.as_ptr();
    // SAFETY: a live string; a new reference, or null.
    object(py, || unsafe { PyImport_Import(name) })
}

/// A module that was imported already. Runs no code.
pub(crate) fn imported<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: the GIL is held; a borrowed reference.
    let modules = unsafe { ffi::PyImport_GetModuleDict() };
    // SAFETY: as above.
    let modules = unsafe { Bound::from_borrowed_ptr(py, modules) };
    modules.cast::<PyDict>()?.get_item(name)
}

/// `repr(value)`.
pub(crate) fn repr<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let (py, value) = (value.py(), value.as_ptr());
    // SAFETY: a live object; a new reference, or null.
    let shown = object(py, || unsafe { PyObject_Repr(value) })?;
    Ok(shown.cast_into()?)
}

/// `str(value)`.
pub(crate) fn str<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
    let (py, value) = (value.py(), value.as_ptr());
    // SAFETY: a live object; a new reference, or null.
    let text = object(py, || unsafe { PyObject_Str(value) })?;
    Ok(text.cast_into()?)
}

/// `bool(value)`.
pub(crate) fn is_true(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let object = value.as_ptr();
    // SAFETY: a live object, under the GIL.
    truth(value.py(), || unsafe { PyObject_IsTrue(object) })
}

/// Whether it is a `collections.abc.Mapping`.
pub(crate) fn is_mapping(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = import(value.py(), "collections.abc")?.getattr("Mapping")?;
    let (object, class) = (value.as_ptr(), class.as_ptr());
    // SAFETY: two live objects, under the GIL.
    truth(value.py(), || unsafe { PyObject_IsInstance(object, class) })
}

/// `dict.update(mapping)`.
pub(crate) fn update(dict: &Bound<'_, PyDict>, mapping: &Bound<'_, PyAny>) -> PyResult<()> {
    let (into, from) = (dict.as_ptr(), mapping.as_ptr());
    // SAFETY: two live objects, the first a dict, under the GIL.
    truth(dict.py(), || unsafe { PyDict_Update(into, from) }).map(drop)
}

/// Has the main thread call a function between two of its instructions, soon or once it comes back to Python, with the GIL, of whichever
/// interpreter. False where too much waits for that already. Any thread may ask for it, without the GIL.
pub(crate) fn in_main_thread(function: extern "C" fn(*mut c_void) -> c_int) -> bool {
    // SAFETY: the function takes any argument and lives as long as the program.
    unsafe { ffi::Py_AddPendingCall(Some(function), std::ptr::null_mut()) == 0 }
}

/// Whether the interpreter whose GIL is held is the first of the process, in which Marey lives.
pub(crate) fn is_in_main_interpreter() -> bool {
    // SAFETY: the caller holds the GIL.
    let current = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: there is one as long as there is another.
    current == unsafe { ffi::PyInterpreterState_Main() }
}

/// What `float(value)` is, of what is no text.
pub(crate) fn float(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let object = value.as_ptr();
    // SAFETY: a live object, under the GIL.
    let number = stopping(|| unsafe { PyFloat_AsDouble(object) });
    match PyErr::take(value.py()) {
        Some(error) => Err(error),
        None => Ok(number),
    }
}

/// `operator.index(value)`: an int.
pub(crate) fn index<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (py, value) = (value.py(), value.as_ptr());
    // SAFETY: a live object; a new reference, or null.
    object(py, || unsafe { PyNumber_Index(value) })
}
