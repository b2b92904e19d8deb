//! Sessions as `with` blocks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::event_data::name_of;
use crate::flow;
use crate::profiler::ProfilerCore;
use crate::profiler_sessions::made_up_id;
use crate::session_context::{self, Session};

/// One session for each time that its `with` block is entered.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct SessionScope {
    profiler: Py<ProfilerCore>,
    /// One is made up for each entry when there is none.
    id: Option<String>,
    tags: Option<Py<PyAny>>,
    /// Locked only while no Python code runs.
    entries: Mutex<Vec<Entry>>,
}

/// One entry of a scope, until its exit.
struct Entry {
    place: Place,
    /// `None` when recording was off.
    session: Option<Arc<Session>>,
}

/// A thread, and the task that runs in it.
#[derive(PartialEq, Eq)]
struct Place {
    thread: std::thread::ThreadId,
    flow: u16,
}

impl Place {
    fn of(py: Python<'_>) -> Self {
        Self {
            thread: std::thread::current().id(),
            flow: flow::number(py),
        }
    }
}

#[pymethods]
impl ProfilerCore {
    /// A session for a `with` block, which gets its id. Arguments as of `start_session`.
    #[pyo3(signature = (session_id=None, tags=None))]
    fn session(
        slf: &Bound<'_, Self>,
        session_id: Option<&Bound<'_, PyAny>>,
        tags: Option<&Bound<'_, PyAny>>,
    ) -> SessionScope {
        SessionScope {
            profiler: slf.clone().unbind(),
            id: session_id.filter(|id| !id.is_none()).map(name_of),
            tags: tags.map(|tags| tags.clone().unbind()),
            entries: Mutex::default(),
        }
    }
}

#[pymethods]
impl SessionScope {
    fn __enter__(&self, py: Python<'_>) -> String {
        let id = self.id.clone().unwrap_or_else(made_up_id);
        let tags = self.tags.as_ref().map(|tags| tags.bind(py));
        let session = self.profiler.get().begin(py, id.clone(), tags, true);
        let place = Place::of(py);
        self.entries().push(Entry { place, session });
        id
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        if let Some(session) = self.take_mine(py) {
            self.profiler.get().end(py, &session);
        }
    }
}

impl SessionScope {
    /// The session that an end belongs to: what the calling thread or task entered last, else the newest. Takes it out.
    fn take_mine(&self, py: Python<'_>) -> Option<Arc<Session>> {
        let mine = Place::of(py);
        let mut entries = self.entries();
        let at = entries
            .iter()
            .rposition(|entry| entry.place == mine)
            .or(entries.len().checked_sub(1))?;
        entries.remove(at).session
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session of a generator: current while the generator runs, ended by `finish`.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct PausedSession {
    profiler: Py<ProfilerCore>,
    id: Option<String>,
    tags: Option<Py<PyAny>>,
    session: Mutex<Option<Arc<Session>>>,
}

#[pymethods]
impl PausedSession {
    #[new]
    #[pyo3(signature = (profiler, session_id=None, tags=None))]
    fn new(
        profiler: &Bound<'_, ProfilerCore>,
        session_id: Option<&Bound<'_, PyAny>>,
        tags: Option<&Bound<'_, PyAny>>,
    ) -> Self {
        Self {
            profiler: profiler.clone().unbind(),
            id: session_id.filter(|id| !id.is_none()).map(name_of),
            tags: tags.map(|tags| tags.clone().unbind()),
            session: Mutex::default(),
        }
    }

    fn __enter__(&self, py: Python<'_>) {
        if let Some(session) = self.session() {
            session_context::enter(py, session);
        } else {
            let begun = self.begin(py);
            *self.place() = begun;
        }
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        if let Some(session) = self.session() {
            session_context::leave(py, &session);
        }
    }

    /// Ends the session.
    #[pyo3(signature = (_is_failed, _result=None))]
    fn finish(&self, py: Python<'_>, _is_failed: bool, _result: Option<&Bound<'_, PyAny>>) {
        if let Some(session) = self.session() {
            self.profiler.get().end(py, &session);
        }
    }
}

impl PausedSession {
    fn begin(&self, py: Python<'_>) -> Option<Arc<Session>> {
        let id = self.id.clone().unwrap_or_else(made_up_id);
        let tags = self.tags.as_ref().map(|tags| tags.bind(py));
        self.profiler.get().begin(py, id, tags, true)
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.place().clone()
    }

    fn place(&self) -> MutexGuard<'_, Option<Arc<Session>>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
