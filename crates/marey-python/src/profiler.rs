//! What a `Profiler` records: sessions, stages, and what a generating program reports of its own work.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use marey::{
    Allocation, BlockComputation, DiffusionStep, Generation, LayerComputation, ModelParameters,
    Note, StreamingEvent,
};
use marey_report::Watch;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::attributes::text_of;
use crate::event_data::{attributes_of, name_of};
use crate::names::section_id_of;
use crate::numbers::{bytes_of_mib, natural, ns_of_ms, real};
use crate::open_section::About;
use crate::paused_section::PausedSection;
use crate::profiler_sessions::{ProfilerSessions, made_up_id};
use crate::profiling_config::ProfilingConfig;
use crate::reported::{
    cache_decision, cache_outcome, duration_of, is_release, nanoseconds, natural_ticks, text,
};
use crate::section_pool::no_section;
use crate::session_context::Session;
use crate::session_scope::SessionScope;
use crate::stopwatch::Stopwatch;
use crate::{current_metrics, log, profile_section, section_kinds, session_report, state};

/// What the class `Profiler` of Python is made of. Does nothing before `set_up`, and without recording.
#[pyclass(subclass, frozen, weakref, module = "marey._core")]
pub(crate) struct ProfilerCore {
    /// When it was made, in ticks.
    made_at: u64,
    /// Empty when it is not enabled.
    config: OnceLock<marey::ProfilingConfig>,
    has_switched: AtomicBool,
    sessions: ProfilerSessions,
    /// Looks at what is known now. Locked only while no Python code runs.
    watch: Mutex<Watch>,
    has_warned: AtomicBool,
}

type Given<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

impl Default for ProfilerCore {
    fn default() -> Self {
        Self {
            made_at: marey::ticks(),
            config: OnceLock::new(),
            has_switched: AtomicBool::new(false),
            sessions: ProfilerSessions::default(),
            watch: Mutex::default(),
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
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        for session in self.sessions.end_all(py) {
            self.write_reports(py, &session)?;
        }
        if let Some(config) = self.config()
            && self.has_switched.swap(false, Relaxed)
        {
            section_kinds::switch_on_again(py, config);
        }
        Ok(())
    }

    /// Ids of the sessions that are open, the oldest first.
    #[getter]
    fn open_sessions(&self) -> Vec<String> {
        self.sessions.open_ids()
    }

    /// Whether something is recorded: it was switched on, and recording is.
    #[getter]
    fn is_enabled(&self) -> bool {
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
    ) -> String {
        let id = id_text(session_id);
        self.begin(py, id.clone(), tags);
        id
    }

    /// Ends a session and returns its id; None when there is none that is open.
    ///
    /// Without an id the innermost of this thread or task; where none was begun, the only one that is open. Sessions begun inside it, and still open
    /// there, end with it.
    #[pyo3(signature = (session_id=None))]
    fn end_session(&self, py: Python<'_>, session_id: Given<'_, '_>) -> PyResult<Option<String>> {
        let id = session_id.filter(|id| !id.is_none());
        let found = match id {
            Some(id) => self.sessions.of_id(py, &name_of(id)),
            None => self.sessions.to_end(py),
        };
        let Some(session) = found else {
            return Ok(None);
        };
        self.end(py, &session)?;
        Ok(Some(session.id.clone()))
    }

    /// A session for a `with` block, which gets its id. Arguments as of `start_session`.
    #[pyo3(signature = (session_id=None, tags=None))]
    fn session(
        slf: &Bound<'_, Self>,
        session_id: Given<'_, '_>,
        tags: Given<'_, '_>,
    ) -> SessionScope {
        SessionScope::new(slf.clone().unbind(), session_id, tags)
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
        profile_section::open(py, name, self.about(py, metadata), false)
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
        PausedSection::with(id, self.about(py, metadata))
    }

    /// Records a point in time with a name.
    ///
    /// `data` is a dict: dicts in it become names with dots between, lists JSON; what is neither bool, number nor text its `repr`, cut at 200
    /// characters. A tensor on a GPU is recorded as its type, because its values would have to be waited for.
    #[pyo3(signature = (name, data=None))]
    fn add_event(&self, py: Python<'_>, name: &Bound<'_, PyAny>, data: Given<'_, '_>) {
        if self.config().is_some() {
            let (name, attributes) = (text_of(name), attributes_of(data));
            self.note(py, &Note::Event { name, attributes });
        }
    }

    /// Records a denoising step that has ended.
    ///
    /// `step` and `block_size` (latent frames) are whole numbers, `timestep` and `guidance_scale` numbers in the program's own scale,
    /// `computation_time_ms` milliseconds. What is None, NaN, below zero or a tensor on a GPU is absent.
    #[pyo3(signature = (step=None, timestep=None, block_size=None, computation_time_ms=None, guidance_scale=None))]
    fn record_diffusion_step(
        &self,
        py: Python<'_>,
        step: Given<'_, '_>,
        timestep: Given<'_, '_>,
        block_size: Given<'_, '_>,
        computation_time_ms: Given<'_, '_>,
        guidance_scale: Given<'_, '_>,
    ) -> PyResult<()> {
        if !self.records(|config| config.profile_diffusion_steps) {
            return Ok(());
        }
        let step = DiffusionStep {
            step: natural(step)?,
            timestep: real(timestep)?,
            block_size: natural(block_size)?,
            computation_ns: nanoseconds(computation_time_ms)?,
            guidance_scale: real(guidance_scale)?,
        };
        self.report(py, Generation::Step(step));
        Ok(())
    }

    /// Records a block of frames that has ended.
    ///
    /// `block_index` and `block_size` (latent frames) are whole numbers, `computation_time_ms` milliseconds, `memory_usage_mb` MiB. What is None,
    /// NaN, below zero or a tensor on a GPU is absent.
    #[pyo3(signature = (block_index=None, block_size=None, computation_time_ms=None, memory_usage_mb=None))]
    fn record_block_computation(
        &self,
        py: Python<'_>,
        block_index: Given<'_, '_>,
        block_size: Given<'_, '_>,
        computation_time_ms: Given<'_, '_>,
        memory_usage_mb: Given<'_, '_>,
    ) -> PyResult<()> {
        if !self.records(|config| config.profile_block_computation) {
            return Ok(());
        }
        let block = BlockComputation {
            index: natural(block_index)?,
            size: natural(block_size)?,
            computation_ns: nanoseconds(computation_time_ms)?,
            memory_bytes: bytes_of_mib(memory_usage_mb)?,
        };
        self.report(py, Generation::Block(block));
        Ok(())
    }

    /// Records which model the program uses. `parameters_count` is a whole number; what is None or makes no sense is absent.
    #[pyo3(signature = (model_name, parameters_count=None, model_type=None))]
    fn record_model_parameters(
        &self,
        py: Python<'_>,
        model_name: &Bound<'_, PyAny>,
        parameters_count: Given<'_, '_>,
        model_type: Given<'_, '_>,
    ) -> PyResult<()> {
        if !self.records(|config| config.profile_model_parameters) {
            return Ok(());
        }
        let model = ModelParameters {
            name: text_of(model_name),
            count: natural(parameters_count)?,
            kind: text(model_type),
        };
        self.report(py, Generation::Model(model));
        Ok(())
    }

    /// Records frames that were delivered. `batch_size` is how many, `encoding_time_ms` and `network_latency_ms` are milliseconds,
    /// `buffer_occupancy` is in the program's own scale; what is None or makes no sense is absent.
    #[pyo3(signature = (batch_size=None, encoding_time_ms=None, network_latency_ms=None, buffer_occupancy=None))]
    fn record_streaming_event(
        &self,
        py: Python<'_>,
        batch_size: Given<'_, '_>,
        encoding_time_ms: Given<'_, '_>,
        network_latency_ms: Given<'_, '_>,
        buffer_occupancy: Given<'_, '_>,
    ) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let event = StreamingEvent {
            frames: natural(batch_size)?,
            encoding_ns: nanoseconds(encoding_time_ms)?,
            network_latency_ns: ns_of_ms(network_latency_ms)?,
            buffer_occupancy: real(buffer_occupancy)?,
        };
        self.report(py, Generation::Streaming(event));
        Ok(())
    }

    /// Records frames that were to be delivered and were not. A `count` that is no whole number is counted among the losses.
    #[pyo3(signature = (count=None))]
    fn record_dropped_frames(&self, py: Python<'_>, count: Given<'_, '_>) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let given = if count.is_some() {
            natural(count)?
        } else {
            Some(1)
        };
        match given {
            Some(0) => {}
            Some(count) => self.report(py, Generation::DroppedFrames { count }),
            None => count_unrecorded(),
        }
        Ok(())
    }

    /// Records a decision of a cache. `event_type` is `hits`, `misses` or `evictions`, or one of them: `hit`; any other is counted among the
    /// losses, and named once in the log. Sizes are bytes; what is None or makes no sense is absent.
    #[pyo3(signature = (event_type, cache_size=None, requested_size=None, evicted_size=None))]
    fn record_cache_event(
        &self,
        py: Python<'_>,
        event_type: &Bound<'_, PyAny>,
        cache_size: Given<'_, '_>,
        requested_size: Given<'_, '_>,
        evicted_size: Given<'_, '_>,
    ) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let Some(outcome) = cache_outcome(event_type) else {
            return self.refuse(py, event_type, "cache", "hits, misses, evictions");
        };
        let sizes = [
            ("requested_size", requested_size),
            ("evicted_size", evicted_size),
        ];
        self.note(py, &cache_decision(outcome, cache_size, sizes)?);
        Ok(())
    }

    /// Records an allocation or a release. `event_type` is `alloc` or `dealloc` (also `allocation`, `free`, `release`); any other, and a
    /// `size_bytes` that is no whole number, is counted among the losses.
    #[pyo3(signature = (event_type, size_bytes, allocator=None, context=None))]
    fn record_memory_event(
        &self,
        py: Python<'_>,
        event_type: &Bound<'_, PyAny>,
        size_bytes: &Bound<'_, PyAny>,
        allocator: Given<'_, '_>,
        context: Given<'_, '_>,
    ) -> PyResult<()> {
        if self.config().is_none() {
            return Ok(());
        }
        let Some(is_release) = is_release(event_type) else {
            return self.refuse(py, event_type, "memory", "alloc, dealloc");
        };
        let Some(bytes) = natural(Some(size_bytes))? else {
            count_unrecorded();
            return Ok(());
        };
        let allocation = Allocation {
            is_release,
            bytes,
            allocator: text(allocator),
            context: text(context),
        };
        self.report(py, Generation::Allocation(allocation));
        Ok(())
    }

    /// Begins to measure a layer; what it returns is for `end_layer_computation`.
    #[pyo3(signature = (_layer=None))]
    #[expect(clippy::unused_self, reason = "a method of Python")]
    fn start_layer_computation(&self, _layer: Given<'_, '_>) -> u64 {
        marey::ticks()
    }

    /// Records a layer and returns its time in milliseconds, by the host's clock; NaN when `start` is none or nothing is recorded.
    #[pyo3(signature = (layer, start, parameters_count=None))]
    fn end_layer_computation(
        &self,
        py: Python<'_>,
        layer: &Bound<'_, PyAny>,
        start: &Bound<'_, PyAny>,
        parameters_count: Given<'_, '_>,
    ) -> PyResult<f64> {
        let now = marey::ticks();
        if !self.is_enabled() {
            return Ok(f64::NAN);
        }
        let ticks = match start.cast::<Stopwatch>() {
            Ok(stopwatch) => stopwatch.get().ticks(),
            Err(_) => natural_ticks(start)
                .filter(|start| *start >= self.made_at)
                .and_then(|start| now.checked_sub(start)),
        };
        let computation_ns = ticks.and_then(duration_of);
        let layer = LayerComputation {
            name: text_of(layer),
            computation_ns,
            parameters: natural(parameters_count)?,
        };
        self.report(py, Generation::Layer(layer));
        Ok(computation_ns.map_or(f64::NAN, |ns| {
            std::time::Duration::from_nanos(ns).as_secs_f64() * 1e3
        }))
    }

    /// What is known now: `timestamp` (seconds since 1970), `session` and `sessions` (ids), `gpu` by device, `cpu`, and of the last half minute
    /// `fps`, `blocks_per_second`, `steps_per_second`, with `dropped_frames`. What is not known has no key. Memory is in MiB.
    fn get_current_metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let metrics = if self.is_enabled() {
            self.look()
        } else {
            marey_report::Metrics::default()
        };
        let current = self.sessions.current(py);
        let current = current.as_ref().map(|session| session.id.as_str());
        current_metrics::as_dict(py, &metrics, current, &self.sessions.open_ids())
    }

    /// Counts what could not be recorded because the program's own function failed.
    #[staticmethod]
    fn count_unrecorded() {
        count_unrecorded();
    }
}

impl ProfilerCore {
    /// Everything is recorded, no reports are written: how the process's own recorder is used.
    pub(crate) fn of_process() -> Self {
        let profiler = Self::default();
        let config = marey::ProfilingConfig {
            enabled: true,
            generate_final_report: false,
            ..marey::ProfilingConfig::default()
        };
        profiler.config.set(config).ok();
        profiler
    }

    /// It is enabled, and a switch of its configuration is on.
    fn records(&self, switch: impl Fn(&marey::ProfilingConfig) -> bool) -> bool {
        self.config().is_some_and(switch)
    }

    pub(crate) fn config(&self) -> Option<&marey::ProfilingConfig> {
        self.config.get()
    }

    pub(crate) fn begin(
        &self,
        py: Python<'_>,
        id: String,
        tags: Given<'_, '_>,
    ) -> Option<Arc<Session>> {
        let config = self.config()?;
        let mut given = attributes_of(tags);
        let mut all = config.session_tags.clone();
        all.retain(|(name, _)| !given.iter().any(|(other, _)| other == name));
        all.append(&mut given);
        self.look();
        self.sessions.begin(py, id, all)
    }

    pub(crate) fn end(&self, py: Python<'_>, session: &Arc<Session>) -> PyResult<()> {
        if self.sessions.end(py, session) {
            self.write_reports(py, session)?;
        }
        Ok(())
    }

    /// Raises nothing but what Python itself raises in between (Ctrl-C).
    fn write_reports(&self, py: Python<'_>, session: &Session) -> PyResult<()> {
        match self.config().filter(|config| config.generate_final_report) {
            Some(config) => session_report::write(py, session, config),
            None => Ok(()),
        }
    }

    /// What is noted of a stage that begins now.
    fn about(&self, py: Python<'_>, metadata: Given<'_, '_>) -> About {
        About {
            attributes: attributes_of(metadata),
            session: self.sessions.current(py).map(|session| session.number),
        }
    }

    fn note(&self, py: Python<'_>, note: &Note) {
        if let Some(recorder) = state::recorder() {
            let session = self.sessions.current(py);
            recorder.note_in(session.map(|session| session.number), note);
        }
    }

    fn report(&self, py: Python<'_>, what: Generation) {
        self.note(py, &Note::Generation(what));
    }

    fn look(&self) -> marey_report::Metrics {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        current_metrics::look(&mut watch)
    }

    /// Counts what is of an unknown type, and says so once.
    fn refuse(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        what: &str,
        known: &str,
    ) -> PyResult<()> {
        count_unrecorded();
        let given: String = text_of(given).chars().take(40).collect();
        let text =
            format!("record_{what}_event({given:?}) was not recorded: the types are {known}");
        log::warn_once(py, &self.has_warned, &text)
    }
}

fn id_text(given: Given<'_, '_>) -> String {
    given
        .filter(|id| !id.is_none())
        .map_or_else(made_up_id, name_of)
}

fn count_unrecorded() {
    if let Some(recorder) = marey::recorder().filter(|_| marey::is_on()) {
        recorder.count_unnoted();
    }
}
