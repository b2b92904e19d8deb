//! Sessions as `with` blocks.

use std::sync::Arc;

use marey::Outcome;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::attributes::name_of;
use crate::flow;
use crate::handed_on::Work;
use crate::kept::Kept;
use crate::profiler::{Given, ProfilerCore};
use crate::profiler_sessions::made_up_id;
use crate::session_context::{self, Keeper, Session};

/// One session for each time that its `with` block is entered.
#[pyclass(frozen, module = "marey._core")]
pub(crate) struct SessionScope {
    wanted: Wanted,
    entries: Kept<Vec<Entry>>,
}

/// What sessions are begun with.
struct Wanted {
    profiler: Py<ProfilerCore>,
    /// One is made up each time when there is none.
    id: Option<String>,
    tags: Option<Py<PyAny>>,
}

impl Wanted {
    fn new(profiler: &Bound<'_, ProfilerCore>, id: Given<'_, '_>, tags: Given<'_, '_>) -> Self {
        Self {
            profiler: profiler.clone().unbind(),
            id: id.filter(|id| !id.is_none()).map(name_of),
            tags: tags.map(|tags| tags.clone().unbind()),
        }
    }

    /// Its id; no session when recording is off.
    fn begin(&self, py: Python<'_>, keeper: Keeper) -> PyResult<(String, Option<Arc<Session>>)> {
        let id = self.id.clone().unwrap_or_else(made_up_id);
        let tags = self.tags.as_ref().map(|tags| tags.bind(py));
        let session = self.profiler.get().begin(py, id.clone(), tags, keeper)?;
        Ok((id, session))
    }
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
        session_id: Given<'_, '_>,
        tags: Given<'_, '_>,
    ) -> SessionScope {
        SessionScope { wanted: Wanted::new(slf, session_id, tags), entries: Kept::default() }
    }
}

#[pymethods]
impl SessionScope {
    fn __enter__(&self, py: Python<'_>) -> PyResult<String> {
        let (id, session) = self.wanted.begin(py, Keeper::Block)?;
        let place = Place::of(py);
        self.entries.lock().push(Entry { place, session, is_cut_off: false });
        Ok(id)
    }

    /// What the calling thread or task entered last is being stopped before its end, without an exception.
    fn cut_off(&self, py: Python<'_>) {
        let mine = Place::of(py);
        let mut entries = self.entries.lock();
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
            self.wanted.profiler.get().end(py, &session, outcome);
        }
    }
}

impl SessionScope {
    /// The entry that an end belongs to: what the calling thread or task entered last, else the newest. Takes it out.
    fn take_mine(&self, py: Python<'_>) -> Option<Entry> {
        let mine = Place::of(py);
        let mut entries = self.entries.lock();
        let at = entries
            .iter()
            .rposition(|entry| entry.place == mine)
            .or(entries.len().checked_sub(1))?;
        Some(entries.remove(at))
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
    wanted: Wanted,
    session: Kept<Option<Arc<Session>>>,
    /// Since it was resumed.
    work: Kept<Option<Work>>,
}

#[pymethods]
impl PausedSession {
    #[new]
    #[pyo3(signature = (profiler, session_id=None, tags=None))]
    fn new(
        profiler: &Bound<'_, ProfilerCore>,
        session_id: Given<'_, '_>,
        tags: Given<'_, '_>,
    ) -> Self {
        let wanted = Wanted::new(profiler, session_id, tags);
        Self { wanted, session: Kept::default(), work: Kept::default() }
    }

    fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(session) = self.session() {
            session_context::enter(py, session);
        } else {
            let (_, begun) = self.wanted.begin(py, Keeper::Generator)?;
            self.session.replace(begun);
        }
        if let Some(session) = self.session() {
            let work = Work::begin(session.started.number, flow::of_lane(py));
            self.work.replace(Some(work));
        }
        Ok(())
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        if let Some(session) = self.session() {
            session_context::leave(py, &session);
        }
        self.work.take().into_iter().for_each(Work::end);
    }

    /// Ends the session.
    #[pyo3(signature = (is_failed, _result=None))]
    fn finish(&self, py: Python<'_>, is_failed: bool, _result: Option<&Bound<'_, PyAny>>) {
        if let Some(session) = self.session() {
            let outcome = if is_failed { Outcome::Failed } else { Outcome::Done };
            self.wanted.profiler.get().end(py, &session, outcome);
        }
    }
}

impl PausedSession {
    fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().clone()
    }
}
