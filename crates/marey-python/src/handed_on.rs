//! What a session starts elsewhere belongs to it: threads, and tasks of executors, whose contexts know nothing of it.
//!
//! ```text
//! session     |--- submit(f) ---- Thread(g).start() ---|
//! worker              [------ f ------]                        a task: until it is over
//! new thread                     [------- g -----------]---    a thread: what it begins while the session lasts
//! ```
//!
//! asyncio hands contexts on by itself, to tasks and with `to_thread`.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use marey::Note;
use pyo3::exceptions::{PyImportError, PyMemoryError, PyRecursionError};
use pyo3::prelude::*;

use crate::callback;
use crate::kept::Kept;
use crate::session_context::{self, SessionChain};
use crate::state;

/// The sessions of the running context, for `work_for_sessions`; None without.
#[pyfunction]
pub(crate) fn sessions(py: Python<'_>) -> Option<Py<SessionChain>> {
    session_context::chain(py)
}

/// A session begins: Python hands on what it should from the first one of a recording on, to pools as soon as they are imported.
///
/// # Errors
/// What a handler of a signal raised meanwhile: it is the program's own.
pub(crate) fn watch(py: Python<'_>) -> PyResult<()> {
    static WATCHED_IN: AtomicU32 = AtomicU32::new(0);
    // The first session of a program may be what begins its recording.
    if state::recorder().is_none() {
        return Ok(());
    }
    let recording = marey::recording_number();
    if WATCHED_IN.load(Relaxed) != recording {
        let Some(module) = module(py) else {
            return Ok(());
        };
        let watched = module.and_then(|module| callback::method(&module, "watch", ())?.extract());
        match watched {
            Err(error) if !is_ours(py, &error) => return Err(error),
            Ok(false) => {}
            // Without it threads and tasks belong to no session, which is no reason to raise.
            Ok(true) | Err(_) => WATCHED_IN.store(recording, Relaxed),
        }
    }
    Ok(())
}

/// Errors that handing on may run into by itself.
fn is_ours(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyImportError>(py)
        || error.is_instance_of::<PyMemoryError>(py)
        || error.is_instance_of::<PyRecursionError>(py)
}

/// Threads that come here meanwhile wait until it is imported. `None` in a child that was forked then: whom it would wait for is not there.
fn module(py: Python<'_>) -> Option<PyResult<Bound<'_, PyAny>>> {
    static IMPORTED_IN: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let before = IMPORTED_IN.swap(process, Relaxed);
    if before != 0 && before != process {
        return None;
    }
    let module = callback::import(py, "marey.handed_on");
    IMPORTED_IN.store(0, Relaxed);
    Some(module)
}

/// The calling thread works for these sessions, those of whoever submitted what it does, until the task ends.
#[pyfunction]
pub(crate) fn begin_task(py: Python<'_>, sessions: &Bound<'_, SessionChain>) -> Task {
    let before = session_context::replace(py, Some(sessions.as_unbound()));
    let work = sessions.get().number().map(Work::of_task);
    Task(Kept::new(Some(Ongoing { before, work })))
}

/// A task of a pool that a session submitted.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct Task(Kept<Option<Ongoing>>);

struct Ongoing {
    /// The thread's own sessions.
    before: Option<Py<SessionChain>>,
    work: Option<Work>,
}

#[pymethods]
impl Task {
    /// The thread has its own sessions again.
    fn end(&self, py: Python<'_>) {
        if let Some(Ongoing { before, work }) = self.0.take() {
            work.into_iter().for_each(Work::end);
            session_context::replace(py, before.as_ref());
        }
    }
}

/// What the calling thread does for a session that is not begun in its own stack, until [`Work::end`].
#[derive(Debug)]
pub(crate) struct Work {
    session: u64,
    flow: u16,
    start_ticks: u64,
    /// What had been recorded then; `None` where it is noted in any case.
    n_written: Option<u64>,
    /// What it worked for before.
    before: Option<u64>,
}

impl Work {
    /// A task of a pool begins; noted if it records something.
    fn of_task(session: u64) -> Self {
        Self { n_written: Some(n_written().unwrap_or(0)), ..Self::begin(session, 0) }
    }

    /// From now on, in a flow of the thread.
    pub(crate) fn begin(session: u64, flow: u16) -> Self {
        Self {
            session,
            flow,
            start_ticks: marey::ticks(),
            n_written: None,
            before: session_context::work_for(Some(session)),
        }
    }

    pub(crate) fn end(self) {
        session_context::work_for(self.before);
        let is_empty = self.n_written.is_some_and(|before| n_written().unwrap_or(0) == before);
        if !is_empty && let Some(recorder) = state::recorder() {
            let note =
                Note::SessionWork { start_ticks: self.start_ticks, is_over: true, flow: self.flow };
            recorder.note_in(Some(self.session), &note);
        }
    }
}

/// Of the calling thread, which may have nothing to write to.
fn n_written() -> Option<u64> {
    marey::own_lane().map(marey::Lane::n_written)
}

/// The calling thread was started in these sessions.
#[pyfunction]
pub(crate) fn work_for_sessions(sessions: &SessionChain) {
    session_context::start_with(sessions);
}
