//! Sessions as `with` blocks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use marey::Outcome;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::event_data::name_of;
use crate::flow;
use crate::handed_on::Work;
use crate::profiler::ProfilerCore;
use crate::profiler_sessions::made_up_id;
use crate::session_context::{self, Keeper, Session};

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
    is_cut_off: bool,
}

/// A thread, and the task that runs in it.
#[derive(PartialEq, Eq)]
struct Place {
    thread: std::thread::ThreadId,
    flow: u16,
}

impl Place {
    fn of(py: Python<'_>) -> Self {
        Self { thread: std::thread::current().id(), flow: flow::number(py) }
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
    fn __enter__(&self, py: Python<'_>) -> PyResult<String> {
        let id = self.id.clone().unwrap_or_else(made_up_id);
        let tags = self.tags.as_ref().map(|tags| tags.bind(py));
        let session = self.profiler.get().begin(py, id.clone(), tags, Keeper::Block)?;
        let place = Place::of(py);
        self.entries().push(Entry { place, session, is_cut_off: false });
        Ok(id)
    }

    /// What the calling thread or task entered last is being stopped before its end, without an exception.
    fn cut_off(&self, py: Python<'_>) {
        let mine = Place::of(py);
        let mut entries = self.entries();
        if let Some(entry) = entries.iter_mut().rfind(|entry| entry.place == mine) {
            entry.is_cut_off = true;
        }
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) {
        let Some(entry) = self.take_mine(py) else {
            return;
        };
        if let Some(session) = entry.session {
            let outcome = match outcome(exception) {
                Outcome::Done if entry.is_cut_off => Outcome::CutOff,
                outcome => outcome,
            };
            self.profiler.get().end(py, &session, outcome);
        }
    }
}

impl SessionScope {
    /// The entry that an end belongs to: what the calling thread or task entered last, else the newest. Takes it out.
    fn take_mine(&self, py: Python<'_>) -> Option<Entry> {
        let mine = Place::of(py);
        let mut entries = self.entries();
        let at = entries
            .iter()
            .rposition(|entry| entry.place == mine)
            .or(entries.len().checked_sub(1))?;
        Some(entries.remove(at))
    }

    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a block ended that got these arguments of `__exit__`: what is no `Exception` (Ctrl-C, a cancelled task, `sys.exit`) stops it.
fn outcome(exception: &Bound<'_, PyTuple>) -> Outcome {
    let kind = exception.get_item(0).ok().filter(|kind| !kind.is_none());
    let Some(kind) = kind else {
        return Outcome::Done;
    };
    let kind = kind.cast_into::<PyType>();
    if kind.is_ok_and(|kind| kind.is_subclass_of::<PyException>().unwrap_or(true)) {
        Outcome::Failed
    } else {
        Outcome::CutOff
    }
}

/// The session of a generator: current while the generator runs, ended by `finish`.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct PausedSession {
    profiler: Py<ProfilerCore>,
    id: Option<String>,
    tags: Option<Py<PyAny>>,
    session: Mutex<Option<Arc<Session>>>,
    /// Since it was resumed.
    work: Mutex<Option<Work>>,
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
            work: Mutex::default(),
        }
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(session) = self.session() {
            session_context::enter(py, session);
        } else {
            let begun = self.begin(py)?;
            *self.place() = begun;
        }
        if let Some(session) = self.session() {
            let work = Work::begin(session.started.number, flow::of_lane(py));
            *self.work() = Some(work);
        }
        Ok(())
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        if let Some(session) = self.session() {
            session_context::leave(py, &session);
        }
        let work = self.work().take();
        work.into_iter().for_each(Work::end);
    }

    /// Ends the session.
    #[pyo3(signature = (is_failed, _result=None))]
    fn finish(&self, py: Python<'_>, is_failed: bool, _result: Option<&Bound<'_, PyAny>>) {
        if let Some(session) = self.session() {
            let outcome = if is_failed { Outcome::Failed } else { Outcome::Done };
            self.profiler.get().end(py, &session, outcome);
        }
    }
}

impl PausedSession {
    fn begin(&self, py: Python<'_>) -> PyResult<Option<Arc<Session>>> {
        let id = self.id.clone().unwrap_or_else(made_up_id);
        let tags = self.tags.as_ref().map(|tags| tags.bind(py));
        self.profiler.get().begin(py, id, tags, Keeper::Generator)
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.place().clone()
    }

    fn work(&self) -> MutexGuard<'_, Option<Work>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self) -> MutexGuard<'_, Option<Arc<Session>>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
