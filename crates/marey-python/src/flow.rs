//! Which flow of execution is running: the thread's own stack, an asyncio task (any entered `contextvars.Context` in which a coroutine runs), or
//! a greenlet.
//!
//! Tasks and greenlets interleave on one thread, so the thread's stack does not know a section's parent; their contexts do. Looking
//! into the context costs more than recording, so the fast path only compares the context *pointer* of the thread state with
//! that of the thread's base context.
//!
//! ```text
//! main     ──base──┐                 ┌──base──►      a thread and a greenlet begin without a context: both get one before
//! greenlet         └─own context─────┘               their first section, so that no two have the same, which is none
//! asyncio.run ─► Context.run(task.step) ─► async def f     may be suspended: a flow of its own
//! worker of a web server ─► Context.run(handler)           returns before the worker goes on: the thread's own stack
//! ```

#![allow(unsafe_code, reason = "enters contexts, and walks the frames of the thread")]

use std::cell::Cell;

use marey::{Current, Lane, new_flow};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::callback;
use crate::context::{ContextVariable, context_address, is_found};
use crate::errors::drop_error;
use crate::thread;

/// `CO_COROUTINE`, `CO_ITERABLE_COROUTINE` and `CO_ASYNC_GENERATOR` of `inspect`.
const IS_COROUTINE: u32 = 0x80 | 0x100 | 0x200;

static CURRENT: ContextVariable = ContextVariable::new(c"marey_current_section");

thread_local! {
    /// The context that was seen last of those that are not the base one, so that whether somebody entered it is not asked again.
    static OTHER: Cell<usize> = const { Cell::new(0) };
}

/// The section that is open in a flow: what the context variable holds.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct FlowSection {
    /// In a flow that has only got its number, the section that its first one goes beside, or none.
    current: Current,
    flow: u16,
    /// A section of this flow is open.
    has_section: bool,
    /// Address of the context for which this was made; in a copy of that context it is the parent's.
    context: usize,
}

/// Where a section that was entered in a flow was put, to undo that at its end.
#[derive(Debug)]
pub(crate) struct Entered {
    flow: u16,
    /// What the variable held before; `None` for nothing.
    previous: Option<Py<PyAny>>,
    current: Current,
}

/// Whether what runs is in a context that somebody entered there, other than the thread's own.
pub(crate) fn is_visiting(py: Python<'_>) -> bool {
    !thread::is_base(py, context_address(py))
}

/// Whether what runs is on the calling thread's own stack, as all code outside asyncio and greenlets is. After [`thread::lane`].
#[inline]
pub(crate) fn is_own_stack(py: Python<'_>) -> bool {
    let context = context_address(py);
    thread::is_base(py, context) || learn_context(py, context)
}

/// A context that this thread did not run in before, or none. It becomes the base one, unless somebody entered it (that cannot be
/// done again) or it is a greenlet's.
#[cold]
fn learn_context(py: Python<'_>, context: usize) -> bool {
    if !is_found() {
        // Nothing tells tasks apart on this Python.
        return true;
    }
    if context != 0 && context == OTHER.get() {
        return returns_before_caller(py);
    }
    let is_base = !is_entered(py, context) && !is_in_greenlet(py);
    if context == 0 {
        CURRENT.make_context(py);
    }
    if is_base {
        thread::set_base(py, context_address(py));
    } else {
        OTHER.set(context_address(py));
    }
    is_base || returns_before_caller(py)
}

/// In a context that somebody entered (`Context.run`), in which nothing of a flow was handed on: what runs returns before the caller goes
/// on, so that it is a part of the thread's own stack.
fn returns_before_caller(py: Python<'_>) -> bool {
    let context = context_address(py);
    let is_known = get(py).is_some_and(|value| {
        let section = value.bind(py).cast::<FlowSection>().map(Bound::get);
        section.is_ok_and(|s| s.context == context || s.current != Current::NONE)
    });
    !is_known && !is_in_greenlet(py) && !is_suspendable(py)
}

fn is_entered(_py: Python<'_>, context: usize) -> bool {
    let object = context as *mut ffi::PyObject;
    if object.is_null() {
        return false;
    }
    // SAFETY: the thread state's context is a live object while this thread runs in it.
    if unsafe { ffi::PyContext_Enter(object) } == 0 {
        // SAFETY: entered just above.
        unsafe { ffi::PyContext_Exit(object) };
        return false;
    }
    // SAFETY: the GIL is held; the error is the one just raised.
    unsafe { ffi::PyErr_Clear() };
    true
}

/// Runs `enter` with the flow's section as the lane's current one, and keeps the new section in the flow's context. `enter`
/// gets whether the section runs beside its parent, and the number of the flow.
pub(crate) fn enter(py: Python<'_>, lane: &Lane, enter: impl FnOnce(bool, u16)) -> Entered {
    let context = context_address(py);
    let thread_current = lane.current();
    let previous = get(py);
    let known = previous.as_ref().and_then(|value| value.bind(py).cast::<FlowSection>().ok());
    let beside = |section: &FlowSection| {
        if section.current == Current::NONE { thread_current } else { section.current }
    };
    let (parent, flow, is_detached) = match known.map(Bound::get) {
        Some(section) if section.context == context => {
            (beside(section), section.flow, !section.has_section)
        }
        Some(section) => (beside(section), new_flow(), true),
        // The first section of a greenlet, or of a task that was started outside any section of a task: the thread's stack is around
        // the event loop.
        None => (thread_current, new_flow(), true),
    };
    lane.set_current(parent);
    enter(is_detached, flow);
    let current = lane.current();
    lane.set_current(thread_current);
    set(py, FlowSection { current, flow, has_section: true, context });
    Entered { flow, previous, current }
}

/// The number of the flow that runs: 0 for the thread's own stack. All sections of a task that was asked for its number have that one.
pub(crate) fn number(py: Python<'_>) -> u16 {
    if is_own_stack(py) {
        return 0;
    }
    let context = context_address(py);
    let value = get(py);
    let section = value.as_ref().and_then(|value| value.bind(py).cast::<FlowSection>().ok());
    let current = match section.map(Bound::get) {
        Some(section) if section.context == context => return section.flow,
        Some(section) => section.current,
        None => Current::NONE,
    };
    let flow = new_flow();
    set(py, FlowSection { current, flow, has_section: false, context });
    flow
}

/// As [`number`], also in a thread that has recorded nothing yet.
pub(crate) fn of_lane(py: Python<'_>) -> u16 {
    thread::lane(py).map_or(0, |_| number(py))
}

/// The section that is open in the flow that runs.
pub(crate) fn current(py: Python<'_>, lane: &Lane) -> Current {
    if is_own_stack(py) {
        return lane.current();
    }
    let value = get(py);
    let section = value.as_ref().and_then(|value| value.bind(py).cast::<FlowSection>().ok());
    section.map_or(Current::NONE, |section| section.get().current)
}

/// The section that a new one goes under or beside, in the flow that runs.
pub(crate) fn parent(py: Python<'_>, lane: &Lane) -> Current {
    match current(py, lane) {
        Current::NONE => lane.current(),
        open => open,
    }
}

/// Runs `exit` with the section's flow as the lane's, then makes the flow's section what it was before.
pub(crate) fn exit(py: Python<'_>, lane: &Lane, entered: Entered, exit: impl FnOnce(u16)) {
    let thread_current = lane.current();
    lane.set_current(entered.current);
    exit(entered.flow);
    lane.set_current(thread_current);
    let now = get(py);
    let is_innermost = now.as_ref().is_some_and(|value| {
        let section = value.bind(py).cast::<FlowSection>();
        section.is_ok_and(|section| section.get().current == entered.current)
    });
    // Closed out of order, or from another context: what is innermost there stays so.
    if is_innermost {
        restore(py, entered.previous);
    }
}

/// An event loop runs in the calling thread (callbacks are suspended with the generator that drives them), or a coroutine of whatever
/// library. Costs a walk through the frames down to the first coroutine.
fn is_suspendable(py: Python<'_>) -> bool {
    let asked = has_running_loop(py).and_then(|has| Ok(has || has_coroutine(py)?));
    asked.unwrap_or_else(|error| {
        drop_error(py, &error);
        true
    })
}

fn has_running_loop(py: Python<'_>) -> PyResult<bool> {
    let Some(asyncio) = callback::imported(py, "_asyncio")? else {
        return Ok(false);
    };
    let running = callback::method(&asyncio, "_get_running_loop", ())?;
    Ok(!running.is_none())
}

fn has_coroutine(py: Python<'_>) -> PyResult<bool> {
    // SAFETY: the GIL is held; a borrowed reference, or null when no Python code runs.
    let frame = unsafe { ffi::PyEval_GetFrame() };
    // SAFETY: as above.
    let mut next = unsafe { Bound::from_borrowed_ptr_or_opt(py, frame.cast()) };
    while let Some(frame) = next {
        // SAFETY: a live frame.
        let code = unsafe { ffi::PyFrame_GetCode(frame.as_ptr().cast()) };
        // SAFETY: a new reference.
        let code = unsafe { Bound::from_owned_ptr(py, code.cast()) };
        if code.getattr("co_flags")?.extract::<u32>()? & IS_COROUTINE != 0 {
            return Ok(true);
        }
        // SAFETY: a live frame.
        let back = unsafe { ffi::PyFrame_GetBack(frame.as_ptr().cast()) };
        // SAFETY: a new reference, or null for the outermost one.
        next = unsafe { Bound::from_owned_ptr_or_opt(py, back.cast()) };
    }
    Ok(false)
}

/// A greenlet (gevent, eventlet) runs, one of several stacks that take turns on one thread, which Python itself knows nothing of; and not the thread's first one, in which all code runs that knows of no greenlets. Costs a look into `sys.modules`.
fn is_in_greenlet(py: Python<'_>) -> bool {
    let asked = || -> PyResult<bool> {
        let Some(greenlet) = callback::imported(py, "greenlet")? else {
            return Ok(false);
        };
        let running = callback::method(&greenlet, "getcurrent", ())?;
        Ok(!running.getattr("parent")?.is_none())
    };
    asked().unwrap_or_else(|error| {
        drop_error(py, &error);
        false
    })
}

fn get(py: Python<'_>) -> Option<Py<PyAny>> {
    CURRENT.get(py).map(Bound::unbind)
}

fn set(py: Python<'_>, section: FlowSection) {
    if let Ok(section) = Py::new(py, section) {
        restore(py, Some(section.into_any()));
    }
}

fn restore(py: Python<'_>, value: Option<Py<PyAny>>) {
    CURRENT.set(py, &value.unwrap_or_else(|| py.None()));
}
