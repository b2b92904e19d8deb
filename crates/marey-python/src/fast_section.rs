//! The fast path of `with profile_section("name"):`, the only part of the binding that is not ordinary PyO3.
//!
//! Most of what an empty C context manager costs is two bound-method objects, made because `__enter__` and `__exit__` are
//! descriptors. CPython looks both up on the *type* and calls what it finds as it is when that has no `tp_descr_get`. So every
//! section object is the only instance of its own small type, whose two attributes are builtin functions that know their section:
//!
//! ```text
//! section object ──type──► own heap type ── __enter__ ──► builtin function ──┐
//!      ▲                                 └─ __exit__  ──► builtin function ──┤
//!      └───────────────────────────────────self──────────────────────────────┘
//! ```
//!
//! Objects are made in advance and reused. The pool keeps one reference to each, for ever; an object is handed out only when that is the
//! only one and its section is not open. Everything here runs under the GIL, which is what makes the statics sound; the module is declared
//! as needing it. The GIL may go to another thread wherever Python is called, though, and that thread may use the same object: so
//! all that a section knows lies in cells, is read again after each such call, and an object is claimed ([`OPEN`]) before the first
//! one. Proved by tests on CPython 3.10 to 3.13; other versions get [`crate::plain_section`].

#![allow(unsafe_code, reason = "type slots and vectorcall of CPython")]

use std::cell::{Cell, UnsafeCell};
use std::ptr;

use marey::{Ending, Lane, NameId, NodeKind, Slot};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::guarded::guarded;
use crate::open_section::{Caller, Entry, OpenSection, SectionMeta};
use crate::thread;

/// A pooled section.
#[repr(C)]
pub(crate) struct Section {
    /// The interpreter's.
    _ob_base: UnsafeCell<ffi::PyObject>,
    /// `None` for the section that does nothing.
    pub(crate) slot: Cell<Option<Slot>>,
    /// [`OPEN`], and what makes a section leave the fast path.
    pub(crate) state: Cell<u8>,
    /// It lies in the pool's stack of free sections.
    pub(crate) is_free: Cell<bool>,
    pub(crate) name: Cell<NameId>,
    /// Parent and name of the last call, and the node that they led to.
    pub(crate) path: Cell<(u64, u32)>,
    /// Thread pointer and lane of the thread that opened it; 0 when it was not opened on the thread's own stack.
    opened_by: Cell<(usize, Option<&'static Lane>)>,
    open: Cell<OpenSection>,
    /// What only some calls have.
    pub(crate) extra: Cell<Option<Box<Extra>>>,
}

// SAFETY: a section is reached by the interpreter's calls of its functions and by the pool only, which hold the GIL.
unsafe impl Sync for Section {}

/// The section is open, or about to be.
const OPEN: u8 = 1;
/// Its end is more than a record: it was opened in another flow than the thread's own stack, or is watched.
const SLOW_EXIT: u8 = 2;
/// It has extras.
pub(crate) const EXTRA: u8 = 4;

#[derive(Default)]
pub(crate) struct Extra {
    pub(crate) meta: SectionMeta,
    pub(crate) is_sync: bool,
    /// Entries of the same object while it was open: by the code inside, or by other tasks and threads.
    pub(crate) nested: Vec<Entry>,
}

impl Section {
    /// The section that an object is.
    ///
    /// # Safety
    /// The object is a section of the pool, and the GIL is held.
    #[inline]
    pub(crate) unsafe fn of(object: *mut ffi::PyObject) -> &'static Self {
        // SAFETY: as above; sections are never freed, and all that changes in them lies in cells.
        unsafe { &*object.cast() }
    }

    /// The object that it is.
    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut ffi::PyObject {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// Somebody is in it.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.has(OPEN) || self.has(EXTRA) && self.has_nested()
    }

    #[cold]
    fn has_nested(&self) -> bool {
        self.with_extra(|extra| extra.as_ref().is_some_and(|e| !e.nested.is_empty()))
    }

    #[inline]
    fn has(&self, flag: u8) -> bool {
        self.state.get() & flag != 0
    }

    fn add(&self, flags: u8) {
        self.state.set(self.state.get() | flags);
    }

    fn take_away(&self, flags: u8) {
        self.state.set(self.state.get() & !flags);
    }

    /// Works on the extras. `work` calls nothing of Python.
    fn with_extra<T>(&self, work: impl FnOnce(&mut Option<Box<Extra>>) -> T) -> T {
        let mut extra = self.extra.take();
        let result = work(&mut extra);
        self.extra.set(extra);
        result
    }

    fn is_sync(&self) -> bool {
        self.with_extra(|extra| extra.as_ref().is_some_and(|e| e.is_sync))
    }

    /// What is noted of it, and whether it waits for the GPU.
    pub(crate) fn meta_and_sync(&self) -> (SectionMeta, bool) {
        let extra = self.with_extra(|extra| extra.as_ref().map(|e| (e.meta.clone(), e.is_sync)));
        extra.unwrap_or_default()
    }

    fn keep_nested(&self, entry: Entry) {
        self.with_extra(|extra| extra.get_or_insert_default().nested.push(entry));
        self.add(EXTRA);
    }

    /// The nested entry that an end belongs to; `None` when it belongs to the section's own slot.
    fn take_nested(&self, caller: &Caller) -> Option<Entry> {
        let own_slot = self.slot.get().filter(|_| self.has(OPEN));
        if own_slot.is_some_and(|slot| caller.is_in(slot)) {
            return None;
        }
        self.with_extra(|extra| {
            let nested = &mut extra.as_mut()?.nested;
            let newest = nested.len().checked_sub(1).filter(|_| own_slot.is_none());
            let at = caller.position_in(nested).or(newest)?;
            Some(nested.remove(at))
        })
    }
}

/// `__enter__`. Ignores its arguments: `with` gives none, `ExitStack` the section.
pub(crate) unsafe extern "C" fn enter(
    section: *mut ffi::PyObject,
    _args: *mut *mut ffi::PyObject,
    _n: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: only functions made for a section have this one; as above.
    let section = unsafe { Section::of(section) };
    match (thread::lane_in_base(py), section.slot.get()) {
        (Some(lane), Some(slot)) if section.state.get() == 0 => {
            let name = section.name.get();
            let key = u64::from(lane.current_node()) << 32 | u64::from(name.number());
            let (known, mut node) = section.path.get();
            if known != key {
                node = lane.node(name, NodeKind::Section, false);
                section.path.set((key, node));
            }
            lane.enter(slot, node, 0);
            let opened_by = (thread::thread_pointer(), Some(lane));
            section.opened_by.set(opened_by);
            section.state.set(OPEN);
        }
        _ => guarded(|| enter_slowly(py, section)),
    }
    none(py)
}

/// In a task, for the first time in a thread, with extras, or nested in itself.
#[cold]
fn enter_slowly(py: Python<'_>, section: &Section) {
    let (Some(lane), Some(slot)) = (thread::lane(py), section.slot.get()) else {
        return;
    };
    if section.state.get() != 0 {
        enter_with_extra(py, section);
        return;
    }
    section.state.set(OPEN | SLOW_EXIT);
    let name = section.name.get();
    let (open, _, _) = OpenSection::begin(py, lane, slot, name, NodeKind::Section);
    if !open.has_slow_end() {
        section.take_away(SLOW_EXIT);
    }
    section.opened_by.set((0, None));
    section.open.set(open);
}

fn enter_with_extra(py: Python<'_>, section: &Section) {
    let is_own = !section.has(OPEN);
    // Before Python runs: who enters the object meanwhile is nested, and the pool does not hand it out.
    section.add(OPEN);
    let (name, (meta, is_sync)) = (section.name.get(), section.meta_and_sync());
    if is_sync {
        crate::sync::synchronize(py);
    }
    if !is_own {
        let entry = Entry::begin(py, Some(name), NodeKind::Section, &meta);
        section.keep_nested(entry);
        return;
    }
    let (Some(lane), Some(slot)) = (thread::lane(py), section.slot.get()) else {
        section.take_away(OPEN);
        return;
    };
    let (mut open, node, start) = OpenSection::begin(py, lane, slot, name, NodeKind::Section);
    open.note(py, lane, meta, (node, start));
    section.open.set(open);
}

/// `__exit__(type, value, traceback)`, from `ExitStack` with the section in front. Never swallows an exception. Returns whether the
/// section is to be put back into the pool; [`crate::section_pool`] makes the builtin function of it.
///
/// # Safety
/// `args` holds `n` arguments, as the interpreter gives them.
#[inline]
pub(crate) unsafe fn exit(
    py: Python<'_>,
    section: &Section,
    args: *mut *mut ffi::PyObject,
    n: ffi::Py_ssize_t,
) -> bool {
    // The exception's type is third from the end.
    let is_failed = n >= 3 && {
        // SAFETY: `args` holds `n` objects.
        let kind = unsafe { args.offset(n - 3) };
        // SAFETY: as above.
        let kind = unsafe { *kind };
        !is_none(kind) && is_failure(kind)
    };
    if section.state.get() == OPEN {
        section.state.set(0);
        let (opener, lane) = section.opened_by.get();
        let is_opener = opener == thread::thread_pointer();
        if let (true, Some(lane), Some(slot)) = (is_opener, lane, section.slot.get()) {
            let ending = Ending { is_failed, ..Ending::default() };
            lane.exit(slot, ending);
        } else {
            guarded(|| exit_slowly(py, section, is_failed));
        }
    } else if section.is_open() {
        guarded(|| exit_with_extra(py, section, is_failed));
        if section.is_open() {
            return false;
        }
    } else {
        return false;
    }
    !section.is_free.get()
}

/// The section was opened on the thread's own stack, but the thread is in another context now, or this is another thread.
#[cold]
fn exit_slowly(py: Python<'_>, section: &Section, is_failed: bool) {
    if let (Some(lane), Some(slot)) = (thread::lane_for_end(py), section.slot.get()) {
        OpenSection::default().end(py, lane, slot, is_failed);
    }
}

/// In a task, with extras, or entered several times.
#[cold]
fn exit_with_extra(py: Python<'_>, section: &Section, is_failed: bool) {
    if section.is_sync() {
        crate::sync::synchronize(py);
    }
    if section.has_nested() {
        let caller = Caller::of(py);
        if let Some(nested) = section.take_nested(&caller) {
            nested.end(py, is_failed);
            return;
        }
    }
    let lane = thread::lane_for_end(py);
    section.take_away(OPEN | SLOW_EXIT);
    let open = section.open.take();
    if let (Some(lane), Some(slot)) = (lane, section.slot.get()) {
        open.end(py, lane, slot, is_failed);
    }
}

/// Whether leaving a section by an exception of this type is a failure: a generator that is closed early is none.
#[cold]
fn is_failure(kind: *mut ffi::PyObject) -> bool {
    // SAFETY: `GeneratorExit` always exists.
    !ptr::eq(kind, unsafe { ffi::PyExc_GeneratorExit })
}

#[inline]
fn is_none(object: *mut ffi::PyObject) -> bool {
    // SAFETY: `None` always exists.
    ptr::eq(object, unsafe { ffi::Py_None() })
}

/// A new reference to `None`.
#[inline]
pub(crate) fn none(_py: Python<'_>) -> *mut ffi::PyObject {
    // SAFETY: `None` always exists.
    let none = unsafe { ffi::Py_None() };
    // SAFETY: a live object; the GIL is held.
    unsafe { ffi::Py_INCREF(none) };
    none
}
