//! The calling thread's lane and base context, for the fast path: what the thread-local storage of an extension module would cost two
//! function calls to find is kept in one place for the thread that used it last.
//!
//! That is sound because the GIL is held, a thread is known by its thread pointer, and an entry dies with its thread and with the recording
//! that it was made in (a fork ends a recording, too).

#![allow(unsafe_code, reason = "the thread pointer and the thread state's dict")]
#![expect(clippy::inline_always, reason = "every recorded section does this")]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use marey::{Lane, Note};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::context::context_address;
use crate::guarded::guarded;
use crate::state;
use crate::under_gil::UnderGil;

/// The thread that the entry is for; 0 for none. An atomic, because a thread clears its entry at its end, without the GIL.
static THREAD: AtomicUsize = AtomicUsize::new(0);
static ENTRY: UnderGil<Entry> = UnderGil::new(Entry {
    recording: Cell::new(0),
    lane: Cell::new(None),
    base: Cell::new(UNKNOWN),
});

/// No context has this address, not even none.
const UNKNOWN: usize = 1;

struct Entry {
    recording: Cell<u32>,
    lane: Cell<Option<&'static Lane>>,
    base: Cell<usize>,
}

thread_local! {
    /// The context that this thread runs in when nobody entered one and no greenlet has one of its own.
    static BASE: Cell<usize> = const { Cell::new(UNKNOWN) };
    static END: End = const { End };
    /// The session in which the thread was started, and its recording, until it records.
    static STARTED_IN: Cell<Option<(u64, u32)>> = const { Cell::new(None) };
}

/// Clears the entry when its thread ends: the next thread may get the same thread pointer.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        THREAD.compare_exchange(thread_pointer(), 0, Relaxed, Relaxed).ok();
    }
}

/// The calling thread's lane; `None` when recording is off.
#[inline]
pub(crate) fn lane(py: Python<'_>) -> Option<&'static Lane> {
    let entry = ENTRY.get(py);
    if THREAD.load(Relaxed) == thread_pointer()
        && entry.recording.get() == marey::recording_number()
    {
        return entry.lane.get();
    }
    find(py)
}

/// As [`lane`], if the thread is known to run in its base context.
#[inline(always)]
pub(crate) fn lane_in_base(py: Python<'_>) -> Option<&'static Lane> {
    let entry = ENTRY.get(py);
    let is_known = THREAD.load(Relaxed) == thread_pointer()
        && entry.recording.get() == marey::recording_number()
        && entry.base.get() == context_address(py);
    if is_known { entry.lane.get() } else { None }
}

/// Whether `context` is the calling thread's base context, as far as is known. After [`lane`].
#[inline]
pub(crate) fn is_base(py: Python<'_>, context: usize) -> bool {
    ENTRY.get(py).base.get() == context
}

/// Learns the calling thread's base context. It is known for as long as the thread state: the interpreter may make another one for the
/// same thread later, and another context at the same address.
pub(crate) fn set_base(py: Python<'_>, context: usize) {
    // SAFETY: the GIL is held; a borrowed reference, or null without memory.
    let of_thread = unsafe { ffi::PyThreadState_GetDict() };
    // SAFETY: as above.
    let of_thread = unsafe { Bound::from_borrowed_ptr_or_opt(py, of_thread) };
    let kept = of_thread.is_some_and(|dict| {
        let known = Bound::new(py, KnownBase);
        known.is_ok_and(|known| dict.set_item("marey", known).is_ok())
    });
    // After that: what it takes the place of made the base unknown.
    if kept {
        learn_base(py, context);
    }
}

fn learn_base(py: Python<'_>, context: usize) {
    BASE.set(context);
    if THREAD.load(Relaxed) == thread_pointer() {
        ENTRY.get(py).base.set(context);
    }
}

/// Lies in the thread state, and ends with it.
#[pyclass(frozen, module = "marey._core")]
struct KnownBase;

impl Drop for KnownBase {
    fn drop(&mut self) {
        Python::try_attach(|py| learn_base(py, UNKNOWN));
    }
}

/// As [`lane`], for the end of a section: `None` in a child that has recorded nothing since the fork, because what ends there
/// was its parent's, and makes no capture of the child's own.
#[inline]
pub(crate) fn lane_for_end(py: Python<'_>) -> Option<&'static Lane> {
    if marey::recording_number() == 0 {
        return None;
    }
    lane(py)
}

/// Makes the next call look again.
pub(crate) fn forget() {
    THREAD.store(0, Relaxed);
}

/// The calling thread, which has recorded nothing yet, was started in a session of that recording.
pub(crate) fn set_started_in(session: u64, recording: u32) {
    STARTED_IN.set(Some((session, recording)));
}

/// The thread records for the first time.
fn note_start(lane: &Lane, (session, recording): (u64, u32)) {
    if recording == marey::recording_number() {
        let note = Note::SessionWork { start_ticks: marey::ticks(), is_over: false, flow: 0 };
        lane.recorder().note_in(Some(session), &note);
    }
}

#[cold]
fn find(py: Python<'_>) -> Option<&'static Lane> {
    forget();
    state::go_on();
    let lane = guarded(marey::lane);
    // In a thread that is being torn down nothing is kept; and without a lane the next call looks again, after a fork above all.
    if lane.is_some() && END.try_with(|_| ()).is_ok() {
        let entry = ENTRY.get(py);
        entry.recording.set(marey::recording_number());
        entry.lane.set(lane);
        entry.base.set(BASE.get());
        THREAD.store(thread_pointer(), Relaxed);
        if let (Some(session), Some(lane)) = (STARTED_IN.take(), lane) {
            guarded(|| note_start(lane, session));
        }
    }
    lane
}

/// A number that no two living threads share: the thread pointer.
#[inline(always)]
pub(crate) fn thread_pointer() -> usize {
    let pointer: usize;
    #[cfg(target_arch = "x86_64")]
    // SAFETY: reads the first word of the thread control block, which on x86-64 Linux is its own address (ABI, TLS variant II).
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags, pure));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: reads the register that holds the thread pointer.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, preserves_flags, pure));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        pointer = BASE.with(|base| std::ptr::from_ref(base) as usize);
    }
    pointer
}
