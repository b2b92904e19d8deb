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
//! as needing it. Proved by tests on CPython 3.10 to 3.13; other versions get [`crate::plain_section`].

#![allow(unsafe_code, reason = "type slots and vectorcall of CPython")]

use std::ptr;

use marey::{Ending, Lane, NameId, NodeKind, Slot};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::guarded::guarded;
use crate::open_section::{About, OpenSection};
use crate::open_sections::{Entry, position_of_mine};
use crate::section_pool;
use crate::{flow, thread};

/// A pooled section.
#[repr(C)]
pub(crate) struct Section {
    pub(crate) ob_base: ffi::PyObject,
    /// `None` for the section that does nothing.
    pub(crate) slot: Option<Slot>,
    /// [`OPEN`], and what makes a section leave the fast path.
    pub(crate) state: u8,
    /// It lies in the pool's stack of free sections.
    pub(crate) is_free: bool,
    pub(crate) name: NameId,
    /// Parent and name of the last call, and the node that they led to.
    pub(crate) path: (u64, u32),
    /// Thread pointer and lane of the thread that opened it; 0 when it was not opened on the thread's own stack.
    pub(crate) opened_by: (usize, Option<&'static Lane>),
    pub(crate) open: OpenSection,
    /// What only some calls have.
    pub(crate) extra: Option<Box<Extra>>,
}

/// The section is open.
const OPEN: u8 = 1;
/// Its end is more than a record: it was opened in an asyncio task, or is watched.
const MORE: u8 = 2;
/// It has extras.
pub(crate) const EXTRA: u8 = 4;

impl Section {
    /// Somebody is in it.
    pub(crate) fn is_open(&self) -> bool {
        self.state & OPEN != 0 || self.state & EXTRA != 0 && self.has_nested()
    }

    #[cold]
    fn has_nested(&self) -> bool {
        self.extra.as_ref().is_some_and(|e| !e.nested.is_empty())
    }
}

#[derive(Default)]
pub(crate) struct Extra {
    pub(crate) about: About,
    pub(crate) is_sync: bool,
    /// Entries of the same object while it was open: by the code inside, or by other tasks and threads.
    pub(crate) nested: Vec<Entry>,
}
/// `__enter__`. Ignores its arguments: `with` gives none, `ExitStack` the section.
pub(crate) unsafe extern "C" fn enter(
    section: *mut ffi::PyObject,
    _args: *mut *mut ffi::PyObject,
    _n: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // Only functions made for a section have this one.
    let section = section.cast::<Section>();
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
    section.state = if open.is_more() { OPEN | MORE } else { OPEN };
    section.open = open;
}

fn enter_with_extra(py: Python<'_>, section: &mut Section, lane: &marey::Lane, own_slot: Slot) {
    let (is_sync, about) = section
        .extra
        .as_ref()
        .map(|e| (e.is_sync, e.about.clone()))
        .unwrap_or_default();
    if is_sync {
        crate::sync::synchronize(py);
    }
    if section.state & OPEN != 0 {
        let entry = Entry::begin(py, Some(section.name), NodeKind::Section, &about);
        section.extra.get_or_insert_default().nested.push(entry);
        section.state |= EXTRA;
        return;
    }
    section.state |= OPEN;
    let (open, node, start) =
        OpenSection::begin(py, lane, own_slot, section.name, NodeKind::Section);
    about.note(lane, node, start);
    section.open = open;
}

/// `__exit__(type, value, traceback)`, from `ExitStack` with the section in front. Never swallows an exception.
pub(crate) unsafe extern "C" fn exit(
    section: *mut ffi::PyObject,
    args: *mut *mut ffi::PyObject,
    n: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, which holds the GIL.
    let py = unsafe { Python::assume_attached() };
    // Only functions made for a section have this one.
    let section = section.cast::<Section>();
    // SAFETY: sections are never freed; the GIL makes this access exclusive.
    let s = unsafe { &mut *section };
    // The exception's type is third from the end.
    let is_failed = n >= 3 && {
        // SAFETY: `args` holds `n` objects.
        let kind = unsafe { args.offset(n - 3) };
        // SAFETY: as above.
        let kind = unsafe { *kind };
        !is_none(kind) && is_failure(kind)
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
        if s.is_open() {
            return none();
        }
    } else {
        return none();
    }
    if !s.is_free {
        s.is_free = true;
        section_pool::give(py, section);
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

/// Whether leaving a section by an exception of this type is a failure: a generator that is closed early is none.
#[cold]
fn is_failure(kind: *mut ffi::PyObject) -> bool {
    // SAFETY: `GeneratorExit` always exists.
    !ptr::eq(kind, unsafe { ffi::PyExc_GeneratorExit })
}

fn is_none(object: *mut ffi::PyObject) -> bool {
    // SAFETY: `None` always exists.
    ptr::eq(object, unsafe { ffi::Py_None() })
}

/// A new reference to `None`.
#[inline]
pub(crate) fn none() -> *mut ffi::PyObject {
    // SAFETY: `None` always exists.
    let none = unsafe { ffi::Py_None() };
    // SAFETY: a live object, under the GIL.
    unsafe { ffi::Py_INCREF(none) };
    none
}
