//! What `@profile_function` makes of a plain function: a callable that records a section around each call.
//!
//! It hands the arguments on as they came (vectorcall), is a method descriptor, so that `obj.method(x)` makes no bound
//! method, and carries what `functools.update_wrapper` puts on it in its own `__dict__`. What else a function has (its code, its defaults) it has
//! from the one that it wraps, as frameworks look there for parameters.

#![allow(unsafe_code, reason = "type slots and vectorcall of CPython")]

use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr;

use marey::{NameId, NodeKind};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::callback;
use crate::once_object::OnceObject;
use crate::open_section::OpenSection;
use crate::{section_kinds, slots};

// Part of the C API of every CPython (`Include/classobject.h`), and not declared by pyo3.
unsafe extern "C" {
    fn PyMethod_New(
        function: *mut ffi::PyObject,
        instance: *mut ffi::PyObject,
    ) -> *mut ffi::PyObject;
}

/// All in cells, because the interpreter writes there, and so does a garbage collection in the middle of a call.
#[repr(C)]
struct Profiled {
    _ob_base: UnsafeCell<ffi::PyObject>,
    vectorcall: Cell<Option<ffi::vectorcallfunc>>,
    function: Cell<*mut ffi::PyObject>,
    dict: Cell<*mut ffi::PyObject>,
    weak_references: Cell<*mut ffi::PyObject>,
    name: Cell<NameId>,
    /// What [`section_kinds`] knows of the name.
    kind: Cell<u8>,
}

impl Profiled {
    /// The callable that an object is.
    ///
    /// # Safety
    /// The object is one of our type, and lives as long as what is returned; the GIL is held.
    #[inline]
    unsafe fn of<'a>(object: *mut ffi::PyObject) -> &'a Self {
        // SAFETY: as above; all that changes in it lies in cells.
        unsafe { &*object.cast() }
    }
}

static TYPE: OnceObject<PyAny> = OnceObject::new();

/// A callable around `function` that records sections of this name.
pub(crate) fn wrap<'py>(
    function: &Bound<'py, PyAny>,
    name: NameId,
    kind: u8,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let own_type = TYPE.get_or_make(py, || profiled_type(py))?;
    // SAFETY: a type with the size of `Profiled`; memory comes zeroed and tracked by the garbage collector.
    let object = unsafe { ffi::PyType_GenericAlloc(own_type.as_ptr().cast(), 0) };
    // SAFETY: a new reference, or null with an error set.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, object)? };
    // SAFETY: just allocated, and ours; zeroed memory is a valid `Profiled`.
    let profiled = unsafe { Profiled::of(object.as_ptr()) };
    // SAFETY: the same function to whoever calls it; what may come through it is said where it is defined.
    let call = unsafe { std::mem::transmute::<Unwinding, ffi::vectorcallfunc>(call) };
    profiled.vectorcall.set(Some(call));
    profiled.name.set(name);
    profiled.kind.set(kind);
    profiled.function.set(function.clone().into_ptr());
    Ok(object)
}

/// A call that a thread may never come back from.
type Unwinding = unsafe extern "C-unwind" fn(
    *mut ffi::PyObject,
    *const *mut ffi::PyObject,
    usize,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// CPython (before 3.14) ends a daemon thread at the end of the interpreter where it next takes the GIL, by `pthread_exit`: that unwinds
/// through here, so nothing that would have to be dropped is alive around the call.
unsafe extern "C-unwind" fn call(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    n: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: only objects of our type have this function; the caller keeps them alive.
    let profiled = unsafe { Profiled::of(callable) };
    let function = profiled.function.get();
    if function.is_null() {
        return cleared(py);
    }
    let lane =
        if section_kinds::is_off(profiled.kind.get()) { None } else { crate::thread::lane(py) };
    let opened = lane.and_then(|lane| {
        let slot = slots::take(py)?;
        let name = profiled.name.get();
        let (open, _, _) = OpenSection::begin(py, lane, slot, name, NodeKind::Section);
        Some((slot, open))
    });
    // SAFETY: a live callable and the arguments as the interpreter gave them.
    let result = unsafe { vectorcall(function, args, n, names) };
    if let Some((slot, open)) = opened {
        end(py, slot, open, result.is_null());
    }
    result
}

/// `PyObject_Vectorcall`, through which a thread may be ended: what is declared as `extern "C"` may not.
///
/// # Safety
/// As there.
#[inline]
unsafe fn vectorcall(
    function: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    n: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: a live object.
    let Some(own) = (unsafe { ffi::PyVectorcall_Function(function) }) else {
        // SAFETY: the caller's promise.
        return unsafe { call_as_object(function, args, n, names) };
    };
    // SAFETY: the same function, which may be left in another way than by returning.
    let own = unsafe { std::mem::transmute::<ffi::vectorcallfunc, Unwinding>(own) };
    // SAFETY: the caller's promise, for the object's own function.
    unsafe { own(function, args, n, names) }
}

/// The same for what has no such function: an object with a `__call__`. A thread that is ended in it stays there.
///
/// # Safety
/// As of `PyObject_Vectorcall`.
#[cold]
unsafe fn call_as_object(
    function: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    n: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: a number.
    let n_positional = unsafe { ffi::PyVectorcall_NARGS(n) }.cast_unsigned();
    // SAFETY: a tuple, or null.
    let names = unsafe { Bound::from_borrowed_ptr_or_opt(py, names) };
    // SAFETY: a live object.
    let function = unsafe { Bound::from_borrowed_ptr(py, function) };
    let object = |k: usize| {
        // SAFETY: one of the arguments: the positional ones, then one for each name.
        let argument = unsafe { args.add(k) };
        // SAFETY: as above.
        let argument = unsafe { *argument };
        // SAFETY: a live object.
        unsafe { Bound::from_borrowed_ptr(py, argument) }
    };
    let called = || -> PyResult<Bound<'_, PyAny>> {
        let positional = PyTuple::new(py, (0..n_positional).map(object))?;
        let keywords = PyDict::new(py);
        let names = names.as_ref().map(|names| names.cast::<PyTuple>()).transpose()?;
        for (k, name) in names.into_iter().flatten().enumerate() {
            keywords.set_item(name, object(n_positional + k))?;
        }
        callback::call_with(&function, positional, Some(&keywords))
    };
    match called() {
        Ok(returned) => returned.into_ptr(),
        Err(error) => {
            error.restore(py);
            ptr::null_mut()
        }
    }
}

/// The garbage collector has taken the function away, and a finaliser calls the wrapper all the same.
#[cold]
fn cleared(_py: Python<'_>) -> *mut ffi::PyObject {
    let text = c"the profiled function is gone".as_ptr();
    // SAFETY: the exception exists as long as the interpreter.
    let kind = unsafe { ffi::PyExc_ReferenceError };
    // SAFETY: the GIL is held, and the text is static.
    unsafe { ffi::PyErr_SetString(kind, text) };
    ptr::null_mut()
}

/// Ends the section; an exception that is on its way is not touched.
#[inline]
fn end(py: Python<'_>, slot: marey::Slot, open: OpenSection, is_failed: bool) {
    let pending = is_failed.then(|| Raised::take(py));
    if let Some(lane) = crate::thread::lane_for_end(py) {
        open.end(py, lane, slot, is_failed);
    }
    slots::give(py, slot);
    if let Some(raised) = pending {
        raised.restore(py);
    }
}

/// An exception that is on its way, as the interpreter has it. Not a `PyErr`: making one can change the exception, and panics for one
/// that stands for a panic.
struct Raised([*mut ffi::PyObject; 3]);

#[allow(deprecated, reason = "what stands for it from CPython 3.12 on is not in 3.10")]
impl Raised {
    fn take(_py: Python<'_>) -> Self {
        let [mut kind, mut value, mut traceback] = [ptr::null_mut(); 3];
        // SAFETY: the GIL is held; three places for references, or null.
        unsafe { ffi::PyErr_Fetch(&raw mut kind, &raw mut value, &raw mut traceback) };
        Self([kind, value, traceback])
    }

    fn restore(self, _py: Python<'_>) {
        let [kind, value, traceback] = self.0;
        // SAFETY: the GIL is held; the references are those that `take` got.
        unsafe { ffi::PyErr_Restore(kind, value, traceback) };
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the C API has small sizes and flags as int"
)]
fn profiled_type(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let member = |name: &'static std::ffi::CStr, offset: usize| ffi::PyMemberDef {
        name: name.as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    };
    let mut members = [
        member(c"__vectorcalloffset__", offset_of!(Profiled, vectorcall)),
        member(c"__dictoffset__", offset_of!(Profiled, dict)),
        member(c"__weaklistoffset__", offset_of!(Profiled, weak_references)),
        // SAFETY: all zero is the end mark of a table of members.
        unsafe { std::mem::zeroed() },
    ];
    // CPython keeps pointers into these two tables.
    let getters = Box::leak(Box::new([
        ffi::PyGetSetDef {
            name: c"__dict__".as_ptr(),
            get: Some(ffi::PyObject_GenericGetDict),
            set: Some(ffi::PyObject_GenericSetDict),
            doc: ptr::null(),
            closure: ptr::null_mut(),
        },
        of_function(c"__code__"),
        of_function(c"__defaults__"),
        of_function(c"__kwdefaults__"),
        of_function(c"__globals__"),
        of_function(c"__closure__"),
        ffi::PyGetSetDef::default(),
    ]));
    let methods = Box::leak(Box::new([
        ffi::PyMethodDef {
            ml_name: c"__reduce__".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: reduce },
            ml_flags: ffi::METH_NOARGS,
            ml_doc: ptr::null(),
        },
        ffi::PyMethodDef::zeroed(),
    ]));
    let slot = |slot: i32, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut type_slots = [
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_descr_get, bind as *mut c_void),
        slot(ffi::Py_tp_traverse, traverse as *mut c_void),
        slot(ffi::Py_tp_clear, clear as *mut c_void),
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, getters.as_mut_ptr().cast()),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(0, ptr::null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT
        | ffi::Py_TPFLAGS_HAVE_GC
        | ffi::Py_TPFLAGS_HAVE_VECTORCALL
        | ffi::Py_TPFLAGS_METHOD_DESCRIPTOR;
    let mut spec = ffi::PyType_Spec {
        name: c"marey.profiled_function".as_ptr(),
        basicsize: size_of::<Profiled>() as i32,
        itemsize: 0,
        flags: flags as u32,
        slots: type_slots.as_mut_ptr(),
    };
    // SAFETY: a valid spec; what CPython keeps of it was leaked above.
    let made = unsafe { ffi::PyType_FromSpec(&raw mut spec) };
    // SAFETY: a new reference, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(py, made).map(Bound::unbind) }
}

/// An attribute that is that of the function.
fn of_function(name: &'static std::ffi::CStr) -> ffi::PyGetSetDef {
    ffi::PyGetSetDef {
        name: name.as_ptr(),
        get: Some(get_of_function),
        set: Some(set_of_function),
        doc: ptr::null(),
        closure: name.as_ptr().cast_mut().cast(),
    }
}

unsafe extern "C" fn get_of_function(
    callable: *mut ffi::PyObject,
    name: *mut c_void,
) -> *mut ffi::PyObject {
    // SAFETY: only objects of our type have this getter; the caller keeps them alive.
    let function = unsafe { Profiled::of(callable) }.function.get();
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    if function.is_null() {
        return cleared(py);
    }
    // SAFETY: a live object, and a static text.
    unsafe { ffi::PyObject_GetAttrString(function, name.cast()) }
}

/// A null value deletes it.
unsafe extern "C" fn set_of_function(
    callable: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    name: *mut c_void,
) -> i32 {
    // SAFETY: only objects of our type have this setter; the caller keeps them alive.
    let function = unsafe { Profiled::of(callable) }.function.get();
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    if function.is_null() {
        cleared(py);
        return -1;
    }
    // SAFETY: a live object, a static text, and a live object or null.
    unsafe { ffi::PyObject_SetAttrString(function, name.cast(), value) }
}

/// `function.__get__`: itself without an instance, a bound method with one.
unsafe extern "C" fn bind(
    callable: *mut ffi::PyObject,
    instance: *mut ffi::PyObject,
    _owner: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: `None` always exists.
    if instance.is_null() || ptr::eq(instance, unsafe { ffi::Py_None() }) {
        // SAFETY: a live object, under the GIL.
        unsafe { ffi::Py_INCREF(callable) };
        return callable;
    }
    // SAFETY: two live objects.
    unsafe { PyMethod_New(callable, instance) }
}

/// Pickles by name, as functions do.
unsafe extern "C" fn reduce(
    callable: *mut ffi::PyObject,
    _: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: a live object; the name is a static text.
    unsafe { ffi::PyObject_GetAttrString(callable, c"__qualname__".as_ptr()) }
}

unsafe extern "C" fn traverse(
    callable: *mut ffi::PyObject,
    visit: ffi::visitproc,
    arg: *mut c_void,
) -> i32 {
    // SAFETY: the garbage collector passes one of ours.
    let profiled = unsafe { Profiled::of(callable) };
    // SAFETY: a live object; instances of heap types own a reference to their type.
    let own_type = unsafe { ffi::Py_TYPE(callable) }.cast();
    for object in [profiled.function.get(), profiled.dict.get(), own_type] {
        if !object.is_null() {
            // SAFETY: a live object and the collector's own function.
            let code = unsafe { visit(object, arg) };
            if code != 0 {
                return code;
            }
        }
    }
    0
}

unsafe extern "C" fn clear(callable: *mut ffi::PyObject) -> i32 {
    // SAFETY: the garbage collector passes one of ours.
    let profiled = unsafe { Profiled::of(callable) };
    let held = [profiled.function.replace(ptr::null_mut()), profiled.dict.replace(ptr::null_mut())];
    for object in held {
        // SAFETY: a reference that was ours, or null.
        unsafe { ffi::Py_XDECREF(object) };
    }
    0
}

unsafe extern "C" fn dealloc(callable: *mut ffi::PyObject) {
    // SAFETY: the interpreter passes one of ours, at its end.
    unsafe { ffi::PyObject_GC_UnTrack(callable.cast()) };
    // SAFETY: as above.
    let profiled = unsafe { Profiled::of(callable) };
    if !profiled.weak_references.get().is_null() {
        // SAFETY: as above.
        unsafe { ffi::PyObject_ClearWeakRefs(callable) };
    }
    // SAFETY: as above.
    unsafe { clear(callable) };
    // SAFETY: as above.
    let own_type = unsafe { ffi::Py_TYPE(callable) };
    // SAFETY: allocated with garbage collection by `PyType_GenericAlloc`.
    unsafe { ffi::PyObject_GC_Del(callable.cast()) };
    // SAFETY: the instance's reference to its type.
    unsafe { ffi::Py_DECREF(own_type.cast()) };
}
