//! The fast path of `with profile_section("name"):`, the only part of the binding that is not ordinary PyO3.
//!
//! Most of what an empty C context manager costs is two bound-method objects, made because `__enter__` and `__exit__` are
//! descriptors. CPython looks both up on the *type* and calls what it finds as it is when that has no `tp_descr_get`. So every
//! section object is the only instance of its own small type, whose two attributes are callables that know their section:
//!
//! ```text
//! section object ──type──► own heap type ── __enter__ ──► hook ──┐
//!      ▲                                 └─ __exit__  ──► hook ──┤
//!      └─────────────────────────────────────────────────────────┘
//! ```
//!
//! Objects are made in advance and reused. The pool keeps one reference to each, for ever; an object is handed out only when that is the
//! only one and its section is not open. Everything here runs under the GIL, which is what makes the statics sound; the module is declared
//! as needing it. Proved by tests on CPython 3.10 to 3.13; other versions get [`crate::plain_section`].

#![allow(unsafe_code, reason = "type slots and vectorcall of CPython")]

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use marey::{Attributes, Ending, Lane, NameId, NodeKind, Slot};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::guarded::guarded;
use crate::names::{NameCache, id_of};
use crate::open_section::{OpenSection, note_attributes};
use crate::open_sections::{Entry, position_of_mine};
use crate::{flow, slots, thread};

/// Most section objects that exist at a time: that many can be open or kept.
const MAX_SECTIONS: usize = 4096;

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

/// A pooled section.
#[repr(C)]
struct Section {
    ob_base: ffi::PyObject,
    /// `None` for the section that does nothing.
    slot: Option<Slot>,
    /// [`OPEN`], and what makes a section leave the fast path.
    state: u8,
    /// It lies in the pool's stack of free sections.
    is_free: bool,
    name: NameId,
    /// Parent and name of the last call, and the node that they led to.
    path: (u64, u32),
    /// Thread pointer and lane of the thread that opened it; 0 when it was not opened on the thread's own stack.
    opened_by: (usize, Option<&'static Lane>),
    open: OpenSection,
    /// What only some calls have.
    extra: Option<Box<Extra>>,
}

/// The section is open.
const OPEN: u8 = 1;
/// It was opened in an asyncio task.
const IN_TASK: u8 = 2;
/// It has extras.
const EXTRA: u8 = 4;

impl Section {
    /// Somebody is in it.
    fn is_open(&self) -> bool {
        self.state & OPEN != 0 || self.state & EXTRA != 0 && self.has_nested()
    }

    #[cold]
    fn has_nested(&self) -> bool {
        self.extra.as_ref().is_some_and(|e| !e.nested.is_empty())
    }
}

#[derive(Default)]
struct Extra {
    attributes: Attributes,
    is_sync: bool,
    /// Entries of the same object while it was open: by the code inside, or by other tasks and threads.
    nested: Vec<Entry>,
}

/// What `__enter__` or `__exit__` of one section's type is.
#[repr(C)]
struct Hook {
    ob_base: ffi::PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    section: *mut Section,
}

struct Pool {
    free: Vec<*mut Section>,
    all: Vec<*mut Section>,
    hook_type: *mut ffi::PyTypeObject,
    names: NameCache,
}

static POOL: UnderGil<Pool> = UnderGil::new(Pool {
    free: Vec::new(),
    all: Vec::new(),
    hook_type: ptr::null_mut(),
    names: NameCache::new(),
});

/// A section object for a name, to be entered with `with`: a new reference. `None` when there is none to be had; counted.
#[inline]
pub(crate) fn section<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let name = match POOL.get(py).names.known(name) {
        Some(id) => id,
        None => find_name(py, name)?,
    };
    let section = take(py)?;
    // SAFETY: sections are never freed, and this one is nobody else's.
    unsafe { (*section).name = name };
    // SAFETY: a live object; this makes the caller's own reference.
    Some(unsafe { Bound::from_borrowed_ptr(py, section.cast()) })
}

/// As [`section`], with attributes and synchronisation.
pub(crate) fn section_with<'py>(
    py: Python<'py>,
    name: &Bound<'py, PyAny>,
    attributes: Attributes,
    is_sync: bool,
) -> Option<Bound<'py, PyAny>> {
    let object = section(py, name)?;
    let extra = Box::new(Extra {
        attributes,
        is_sync,
        nested: Vec::new(),
    });
    // SAFETY: made by `section`, so it is one of ours.
    let section = unsafe { &mut *object.as_ptr().cast::<Section>() };
    section.extra = Some(extra);
    section.state = EXTRA;
    Some(object)
}

#[cold]
fn find_name(py: Python<'_>, name: &Bound<'_, PyAny>) -> Option<NameId> {
    let id = guarded(|| id_of(name))?;
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
        if n_references == 1 && !s.is_open() {
            if s.state != 0 {
                s.extra = None;
                s.state = 0;
            }
            return Some(section);
        }
        // Somebody kept it. `more` finds it again once they let go.
    }
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
        if n_references == 1 && !s.is_open() && !s.is_free {
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
    _hook: *mut ffi::PyObject,
    _args: *const *mut ffi::PyObject,
    _n: usize,
    _names: *mut ffi::PyObject,
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
    enter: ffi::vectorcallfunc,
    exit: ffi::vectorcallfunc,
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
    own_type.setattr("__enter__", new_hook(py, enter, section)?)?;
    own_type.setattr("__exit__", new_hook(py, exit, section)?)?;
    own_type.setattr("__module__", "marey")?;
    Ok(section)
}

fn new_hook(
    py: Python<'_>,
    call: ffi::vectorcallfunc,
    section: *mut Section,
) -> PyResult<Bound<'_, PyAny>> {
    let pool = POOL.get(py);
    if pool.hook_type.is_null() {
        pool.hook_type = hook_type(py)?;
    }
    // SAFETY: a type with the size of `Hook`.
    let hook = unsafe { ffi::PyType_GenericAlloc(pool.hook_type, 0) };
    // SAFETY: a new reference, or null with an error set.
    let hook = unsafe { Bound::from_owned_ptr_or_err(py, hook)? };
    let h = hook.as_ptr().cast::<Hook>();
    // SAFETY: just allocated, and ours.
    unsafe { (*h).vectorcall = Some(call) };
    // SAFETY: as above.
    unsafe { (*h).section = section };
    Ok(hook)
}

/// The type of hooks: vectorcall, and on purpose no `tp_descr_get`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the C API has small sizes and flags as int"
)]
fn hook_type(py: Python<'_>) -> PyResult<*mut ffi::PyTypeObject> {
    let mut members = [
        ffi::PyMemberDef {
            name: c"__vectorcalloffset__".as_ptr(),
            type_code: ffi::Py_T_PYSSIZET,
            offset: std::mem::offset_of!(Hook, vectorcall) as ffi::Py_ssize_t,
            flags: ffi::Py_READONLY,
            doc: ptr::null(),
        },
        // SAFETY: all zero is the end mark of a table of members.
        unsafe { std::mem::zeroed() },
    ];
    let mut type_slots = [
        ffi::PyType_Slot {
            slot: ffi::Py_tp_call,
            pfunc: ffi::PyVectorcall_Call as *mut c_void,
        },
        ffi::PyType_Slot {
            slot: ffi::Py_tp_members,
            pfunc: members.as_mut_ptr().cast(),
        },
        ffi::PyType_Slot {
            slot: 0,
            pfunc: ptr::null_mut(),
        },
    ];
    let mut spec = ffi::PyType_Spec {
        name: c"marey.section_hook".as_ptr(),
        basicsize: size_of::<Hook>() as i32,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_HAVE_VECTORCALL) as u32,
        slots: type_slots.as_mut_ptr(),
    };
    // SAFETY: a valid spec; CPython copies what it needs from the tables.
    let made = unsafe { ffi::PyType_FromSpec(&raw mut spec) };
    // SAFETY: a new reference, or null with an error set.
    let made = unsafe { Bound::from_owned_ptr_or_err(py, made)? };
    Ok(made.into_ptr().cast())
}

/// `__enter__`. Ignores its arguments: `with` gives none, `ExitStack` the section.
unsafe extern "C" fn enter(
    hook: *mut ffi::PyObject,
    _args: *const *mut ffi::PyObject,
    _n: usize,
    _names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: only hooks have this function.
    let section = unsafe { (*hook.cast::<Hook>()).section };
    // SAFETY: sections are never freed; the GIL makes this access exclusive.
    let section = unsafe { &mut *section };
    match (thread::lane_in_base(py), section.slot) {
        (Some(lane), Some(slot)) if section.state == 0 => {
            let key = u64::from(lane.current_node()) << 32 | u64::from(section.name.number());
            if section.path.0 != key {
                section.path = (key, lane.node(section.name, NodeKind::Section, false));
            }
            lane.enter(slot, section.path.1, 0);
            section.opened_by = (thread::thread_pointer(), Some(lane));
            section.state = OPEN;
        }
        _ => guarded(|| enter_slowly(py, section)),
    }
    none()
}

/// In a task, for the first time in a thread, with extras, or nested in itself.
#[cold]
fn enter_slowly(py: Python<'_>, section: &mut Section) {
    let (Some(lane), Some(slot)) = (thread::lane(py), section.slot) else {
        return;
    };
    if section.state != 0 {
        enter_with_extra(py, section, lane, slot);
        return;
    }
    let (open, _, _) = OpenSection::begin(py, lane, slot, section.name, NodeKind::Section);
    section.opened_by = (0, None);
    section.state = if open.is_in_task() {
        OPEN | IN_TASK
    } else {
        OPEN
    };
    section.open = open;
}

fn enter_with_extra(py: Python<'_>, section: &mut Section, lane: &marey::Lane, own_slot: Slot) {
    let (is_sync, attributes) = section
        .extra
        .as_ref()
        .map(|e| (e.is_sync, e.attributes.clone()))
        .unwrap_or_default();
    if is_sync {
        crate::sync::synchronize(py);
    }
    if section.state & OPEN != 0 {
        let entry = Entry::begin(py, Some(section.name), NodeKind::Section, &attributes);
        section.extra.get_or_insert_default().nested.push(entry);
        section.state |= EXTRA;
        return;
    }
    section.state |= OPEN;
    let (open, node, start) =
        OpenSection::begin(py, lane, own_slot, section.name, NodeKind::Section);
    if !attributes.is_empty() {
        note_attributes(lane, node, start, attributes);
    }
    section.open = open;
}

/// `__exit__(type, value, traceback)`, from `ExitStack` with the section in front. Never swallows an exception.
unsafe extern "C" fn exit(
    hook: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    n: usize,
    _names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: only hooks have this function.
    let section = unsafe { (*hook.cast::<Hook>()).section };
    // SAFETY: sections are never freed; the GIL makes this access exclusive.
    let s = unsafe { &mut *section };
    // The exception's type is third from the end. The count's top bit is a flag of the calling convention.
    let n = n & !(1 << (usize::BITS - 1));
    let is_failed = n >= 3 && {
        // SAFETY: `args` holds `n` objects.
        let kind = unsafe { args.add(n - 3) };
        // SAFETY: as above.
        !is_none(unsafe { *kind })
    };
    if s.state == OPEN {
        s.state = 0;
        let (opener, lane) = s.opened_by;
        let is_opener = opener == thread::thread_pointer();
        if let (true, Some(lane), Some(slot)) = (is_opener, lane, s.slot) {
            let ending = Ending {
                is_failed,
                ..Ending::default()
            };
            lane.exit(slot, ending);
        } else {
            guarded(|| exit_slowly(py, s, is_failed));
        }
    } else if s.is_open() {
        guarded(|| exit_with_extra(py, s, is_failed));
    } else {
        return none();
    }
    if !s.is_open() && !s.is_free {
        s.is_free = true;
        POOL.get(py).free.push(section);
    }
    none()
}

/// The section was opened on the thread's own stack, but the thread is in another context now, or this is another thread.
#[cold]
fn exit_slowly(py: Python<'_>, section: &mut Section, is_failed: bool) {
    if let (Some(lane), Some(slot)) = (thread::lane_for_end(py), section.slot) {
        OpenSection::default().end(py, lane, slot, is_failed);
    }
}

/// In a task, with extras, or entered several times.
#[cold]
fn exit_with_extra(py: Python<'_>, section: &mut Section, is_failed: bool) {
    if section.extra.as_ref().is_some_and(|e| e.is_sync) {
        crate::sync::synchronize(py);
    }
    if let Some(nested) = take_nested(py, section) {
        nested.end(py, is_failed);
        return;
    }
    section.state &= EXTRA;
    let open = std::mem::take(&mut section.open);
    if let (Some(lane), Some(slot)) = (thread::lane_for_end(py), section.slot) {
        open.end(py, lane, slot, is_failed);
    }
}

/// The nested entry that an end belongs to; `None` when it belongs to the section's own slot.
fn take_nested(py: Python<'_>, section: &mut Section) -> Option<Entry> {
    let nested = &mut section.extra.as_mut()?.nested;
    let own_slot = section.slot.filter(|_| section.state & OPEN != 0);
    let is_own = own_slot
        .zip(thread::lane_for_end(py))
        .is_some_and(|(slot, lane)| flow::current(py, lane).is_in(slot));
    if nested.is_empty() || is_own {
        return None;
    }
    let newest = own_slot.is_none().then(|| nested.len() - 1);
    let at = position_of_mine(py, nested).or(newest)?;
    Some(nested.remove(at))
}

fn is_none(object: *mut ffi::PyObject) -> bool {
    // SAFETY: `None` always exists.
    ptr::eq(object, unsafe { ffi::Py_None() })
}

/// A new reference to `None`.
#[inline]
fn none() -> *mut ffi::PyObject {
    // SAFETY: `None` always exists.
    let none = unsafe { ffi::Py_None() };
    // SAFETY: a live object, under the GIL.
    unsafe { ffi::Py_INCREF(none) };
    none
}
