//! What the class `Profiler` is made of: its sessions, stages and events.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use marey::{Note, Outcome};
use marey_report::live::{LiveSnapshot, Watch};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attributes::text_of;
use crate::attributes::{attributes_of, name_of};
use crate::errors::or_absent;
use crate::kept::Kept;
use crate::names::section_id_of;
use crate::once_object::OnceObject;
use crate::open_section::SectionMeta;
use crate::paused_section::PausedSection;
use crate::profiler_sessions::{ProfilerSessions, made_up_id};
use crate::profiling_config::ProfilingConfig;
use crate::section_pool::no_section;
use crate::session_context::{Keeper, Session};
use crate::{
    callback, current_metrics, flow, handed_on, profile_section, section_kinds, session_report,
    state,
};

/// What the class `Profiler` of Python is made of. Does nothing before `set_up`, and without recording.
#[pyclass(subclass, frozen, weakref, module = "marey._core")]
pub(crate) struct ProfilerCore {
    /// When it was made, in ticks.
    pub(crate) made_at: u64,
    /// Empty when it is not enabled.
    config: OnceLock<marey::ProfilingConfig>,
    has_switched: AtomicBool,
    sessions: ProfilerSessions,
    /// Looks at what is known now.
    watch: Kept<Watch>,
    /// An unknown type was named in the log.
    pub(crate) has_warned: AtomicBool,
}

/// An argument that may be left out.
pub(crate) type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

impl Default for ProfilerCore {
    fn default() -> Self {
        Self {
            made_at: marey::ticks(),
            config: OnceLock::new(),
            has_switched: AtomicBool::new(false),
            sessions: ProfilerSessions::default(),
            watch: Kept::default(),
            has_warned: AtomicBool::new(false),
        }
    }
}

#[pymethods]
impl ProfilerCore {
    #[new]
    #[pyo3(signature = (*_args, **_keywords))]
    fn new(_args: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Self {
        Self::default()
    }

    /// Switches it on as a configuration says; the second time does nothing.
    fn set_up(&self, py: Python<'_>, config: &Bound<'_, ProfilingConfig>) {
        let config = &config.get().0;
        if config.enabled && self.config.set(config.clone()).is_ok() {
            section_kinds::switch_off(py, config);
            self.has_switched.store(true, Relaxed);
            if config.generate_final_report {
                session_report::want();
            }
            if let Some(recorder) = state::recorder() {
                recorder.note_settings(config);
            }
            self.look();
        }
    }

    /// Ends all sessions, and what the configuration says of sections that others open.
    fn close(&self, py: Python<'_>) {
        if let Some(config) = self.config()
            && self.has_switched.swap(false, Relaxed)
        {
            section_kinds::switch_on_again(py, config);
        }
        self.sessions.end_all(py);
    }

    /// Ids of the sessions that are open, the oldest first.
    #[getter]
    fn open_sessions(&self) -> Vec<String> {
        self.sessions.open_ids()
    }

    /// Whether something is recorded: it was switched on, and recording is.
    #[getter]
    pub(crate) fn is_enabled(&self) -> bool {
        self.config().is_some() && state::recorder().is_some()
    }

    /// Begins a session, nested in the one that is current in this thread or asyncio task, and returns its id.
    ///
    /// `session_id` is any text, and may be used again; other objects count by their `str()`. None makes one up. `tags` are kept with the session,
    /// besides the `session_tags` of the configuration.
    #[pyo3(signature = (session_id=None, tags=None))]
    fn start_session(
        &self,
        py: Python<'_>,
        session_id: Given<'_, '_>,
        tags: Given<'_, '_>,
    ) -> PyResult<String> {
        let id = id_text(session_id);
        self.begin(py, id.clone(), tags, Keeper::None)?;
        Ok(id)
    }

    /// Ends a session and returns its id; None when there is none that is open.
    ///
    /// Without an id the innermost of this thread or task; where none was begun, the only one that is open. Sessions begun inside it, and still open
    /// there, end with it.
    #[pyo3(signature = (session_id=None))]
    fn end_session(&self, py: Python<'_>, session_id: Given<'_, '_>) -> Option<String> {
        let id = session_id.filter(|id| !id.is_none());
        let session = match id {
            Some(id) => self.sessions.of_id(py, &name_of(id)),
            None => self.sessions.to_end(py),
        }?;
        self.end(py, &session, Outcome::Done);
        Some(session.id.clone())
    }

    /// A stage for a `with` block: a section that belongs to the current session, or to none.
    ///
    /// `metadata` is a dict; it is kept with this call of the stage.
    #[pyo3(signature = (name, metadata=None))]
    fn stage<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        metadata: Given<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !self.is_enabled() {
            return no_section(py);
        }
        profile_section::open(py, name, self.meta(py, metadata), false)
    }

    /// As `stage`, for a generator: entered with each resume, recorded by `finish`.
    #[pyo3(signature = (name, metadata=None))]
    fn paused_stage(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        metadata: Given<'_, '_>,
    ) -> PausedSection {
        let id = self.is_enabled().then(|| section_id_of(name)).flatten();
        PausedSection::with(id, self.meta(py, metadata), false)
    }

    /// Records a point in time with a name.
    ///
    /// `data` is a dict: dicts in it become names with dots between, lists JSON; what is neither bool, number nor text its `repr`, cut at 200
    /// characters. A tensor on a GPU is recorded as its type, because its values would have to be waited for.
    #[pyo3(signature = (name, data=None))]
    fn add_event(&self, py: Python<'_>, name: &Bound<'_, PyAny>, data: Given<'_, '_>) {
        if self.config().is_some() {
            self.note(py, &Note::event(text_of(name), attributes_of(data)));
        }
    }

    /// What is known now: `timestamp` (seconds since 1970), `session` and `sessions` (ids), `gpu` by device, `cpu`, and of the last half minute
    /// `fps`, `blocks_per_second`, `steps_per_second`, with `dropped_frames`. What is not known has no key. Memory is in MiB.
    fn get_current_metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let now = self.is_enabled().then(|| self.look()).flatten();
        let current = self.sessions.current(py);
        let current = current.filter(|session| session.is_open());
        let current = current.as_ref().map(|session| session.id.as_str());
        current_metrics::as_dict(py, now.as_ref(), current, &self.sessions.open_ids())
    }

    /// Counts what could not be recorded because the program's own function failed.
    #[staticmethod]
    fn count_unrecorded() {
        count_unrecorded();
    }
}

impl ProfilerCore {
    /// Always enabled, as the environment says, and without reports at the end: how the process's own recorder is used.
    pub(crate) fn of_process() -> Self {
        let profiler = Self::default();
        let config = marey::ProfilingConfig {
            enabled: true,
            generate_final_report: false,
            ..marey::ProfilingConfig::from_env_tolerant().0
        };
        profiler.config.set(config).ok();
        profiler
    }

    pub(crate) fn config(&self) -> Option<&marey::ProfilingConfig> {
        self.config.get()
    }

    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        id: String,
        tags: Given<'_, '_>,
        keeper: Keeper,
    ) -> PyResult<Option<Arc<Session>>> {
        let Some(config) = self.config() else {
            return Ok(None);
        };
        let mut given = attributes_of(tags);
        let mut all = config.session_tags.clone();
        all.retain(|(name, _)| !given.iter().any(|(other, _)| other == name));
        all.append(&mut given);
        self.look();
        handed_on::watch(py)?;
        Ok(self.sessions.begin(py, id, all, keeper))
    }

    pub(crate) fn end(&self, py: Python<'_>, session: &Arc<Session>, outcome: Outcome) {
        self.sessions.end(py, session, outcome);
    }

    /// What is noted of a stage that begins now.
    fn meta(&self, py: Python<'_>, metadata: Given<'_, '_>) -> SectionMeta {
        SectionMeta {
            attributes: attributes_of(metadata),
            session: self.sessions.current(py).map(|session| session.started.number),
        }
    }

    pub(crate) fn note(&self, py: Python<'_>, note: &Note) {
        if let Some(recorder) = state::recorder() {
            let session = self.sessions.current(py);
            let session = session.map(|session| session.started.number);
            // Of what takes turns: which task reports it tells loops apart.
            let flow = match note {
                Note::Generation(_) => flow::of_lane(py),
                _ => 0,
            };
            recorder.note_in_flow(session, flow, note);
        }
    }

    fn look(&self) -> Option<LiveSnapshot> {
        current_metrics::look(&mut self.watch.lock())
    }
}

/// What nobody holds any more ends as by `cleanup`.
impl Drop for ProfilerCore {
    fn drop(&mut self) {
        if self.config().is_some() {
            Python::try_attach(|py| self.close(py));
        }
    }
}

fn id_text(given: Given<'_, '_>) -> String {
    given.filter(|id| !id.is_none()).map_or_else(made_up_id, name_of)
}

/// Counts what is not recorded because it makes no sense.
pub(crate) fn count_unrecorded() {
    if let Some(recorder) = marey::recorder().filter(|_| marey::is_on()) {
        recorder.count_unnoted();
    }
}

/// The profiler that stands for the process's own recorder: what decorators use where an object has none.
#[pyfunction]
pub(crate) fn process_profiler(py: Python<'_>) -> PyResult<Py<ProfilerCore>> {
    static PROFILER: OnceObject<ProfilerCore> = OnceObject::new();
    let made = PROFILER.get_or_make(py, || Py::new(py, ProfilerCore::of_process()));
    made.map(|profiler| profiler.clone().unbind())
}

/// The profiler for what an object's method records: its `_profiler`. The process's where it has none; also where that one is disabled, if
/// recording is on all the same.
#[pyfunction]
#[pyo3(signature = (owner=None))]
pub(crate) fn profiler_of(
    py: Python<'_>,
    owner: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<ProfilerCore>> {
    let own = match owner {
        Some(owner) => or_absent(py, callback::attribute(owner, "_profiler"))?,
        None => None,
    };
    let own = own.as_ref().and_then(|own| own.cast::<ProfilerCore>().ok());
    match own {
        Some(own) if own.get().config().is_some() || !marey::is_on() => Ok(own.clone().unbind()),
        _ => process_profiler(py),
    }
}
