//! Starting, stopping, and what is recorded besides sections.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use marey::{Config, Note, Status};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::attributes::{from_dict, text_of};
use crate::callback;
use crate::context::find_context_offset;
use crate::errors::{config_error, start_error};
use crate::names::id_of;
use crate::profiling_config::ProfilingConfig;
use crate::{
    device_watch, profiled_function, section_kinds, section_mode, session_context, session_report,
    state,
};

/// CPython versions on which the tests of the fast section objects passed.
const PROVED: std::ops::RangeInclusive<u8> = 10..=13;

/// Fast objects where they were proved, the plain class elsewhere.
pub(crate) fn choose_section_objects(py: Python<'_>) {
    let version = py.version_info();
    let is_proved = version.major == 3
        && PROVED.contains(&version.minor)
        && !Python::version_str().contains("PyPy");
    section_mode::use_fast_sections(find_context_offset(py).is_ok() && is_proved);
}

/// Chooses the section objects by hand; for tests.
#[pyfunction]
pub(crate) fn use_fast_sections(is_fast: bool) {
    section_mode::use_fast_sections(is_fast);
}

/// Starts recording into a folder, or moves what was recorded in memory there. The job folder's path; None when `MAREY_ENABLED=0`
/// switches recording off.
#[pyfunction]
#[pyo3(signature = (output_dir=None, job_id=None, facts=None, profiling=None))]
pub(crate) fn start(
    py: Python<'_>,
    output_dir: Option<PathBuf>,
    job_id: Option<&Bound<'_, PyAny>>,
    facts: Option<&Bound<'_, PyDict>>,
    profiling: Option<&Bound<'_, ProfilingConfig>>,
) -> PyResult<Option<PathBuf>> {
    if state::is_switched_off() {
        return Ok(None);
    }
    let mut config = Config::from_env().0;
    if profiling.is_none() {
        // What a program asks for itself refuses to start; only what the environment switches on goes on.
        config.profiling =
            marey::ProfilingConfig::from_env().map_err(|error| config_error(py, &error))?;
    }
    config.output_dir =
        output_dir.or(config.output_dir).or_else(|| Some(marey::default_output_dir()));
    config.job_id = job_id.map(text_of).or(config.job_id);
    config.facts = facts.map(python_facts).unwrap_or_default();
    section_kinds::follow_environment(py, &config.profiling);
    if let Some(profiling) = profiling {
        config.profiling = profiling.get().0.clone();
    }
    join_parents_job(py, &mut config);
    py.detach(|| state::start(config)).map_err(|error| start_error(&error))?;
    Ok(folder())
}

/// The job that this process records into, for a worker that gets a profiler from it: this process's id, the output folder and the job's name.
/// None while the recording is in memory.
#[pyfunction]
pub(crate) fn job_of_process() -> Option<(u32, OsString, OsString)> {
    let folder = folder()?;
    let (output_dir, job_id) = (folder.parent()?, folder.file_name()?);
    Some((std::process::id(), output_dir.into(), job_id.into()))
}

/// Records into the job of the process `maker`, which gave this one a profiler, as its worker: `latest` and the reports are the maker's.
/// Nothing happens in the maker itself, when it has ended, and where the folder cannot be used.
#[pyfunction]
pub(crate) fn join_job(
    py: Python<'_>,
    maker: u32,
    output_dir: PathBuf,
    job_id: &Bound<'_, PyAny>,
    facts: &Bound<'_, PyDict>,
    profiling: &Bound<'_, ProfilingConfig>,
) {
    let is_worker = maker != std::process::id()
        && std::fs::exists(format!("/proc/{maker}")).is_ok_and(|there| there);
    if !is_worker || state::is_switched_off() {
        return;
    }
    session_report::become_worker();
    if capture_path().is_some() {
        return;
    }
    let config = Config {
        output_dir: Some(output_dir),
        job_id: Some(text_of(job_id)),
        is_first_of_job: false,
        facts: python_facts(facts),
        profiling: profiling.get().0.clone(),
        ..Config::from_env().0
    };
    section_kinds::follow_environment(py, &Config::from_env().0.profiling);
    py.detach(|| state::start(config)).ok();
}

/// A process of `multiprocessing` records into the job of the one that started it, as its worker, where both go to the same folder and
/// nobody names the job.
fn join_parents_job(py: Python<'_>, config: &mut Config) {
    let parent = parent_process(py);
    py.detach(|| join_job_of(parent, config));
}

fn join_job_of(parent: Option<u32>, config: &mut Config) {
    if config.job_id.is_some() {
        return;
    }
    let root = config.ring_dir.clone().or_else(marey::ring_root);
    let job = parent.zip(root);
    let job = job.and_then(|(parent, root)| marey::live::job_of(&root, parent));
    let Some((output_dir, job_id)) = job else {
        return;
    };
    let own = config.output_dir.as_ref().and_then(|own| own.canonicalize().ok());
    if own == output_dir.canonicalize().ok() {
        session_report::become_worker();
        config.job_id = Some(job_id);
        config.is_first_of_job = false;
    }
}

/// The process that made this one by `multiprocessing`, if that did.
fn parent_process(py: Python<'_>) -> Option<u32> {
    let module = callback::imported(py, "multiprocessing.process").ok()??;
    let parent = callback::method(&module, "parent_process", ()).ok()?;
    parent.getattr("pid").ok()?.extract().ok()
}

/// What the environment asks for: starts recording and returns True, or does nothing. Never raises.
#[pyfunction]
pub(crate) fn autostart(py: Python<'_>, facts: &Bound<'_, PyDict>) -> bool {
    if !marey::is_asked_for_by_env() {
        return false;
    }
    let facts = python_facts(facts);
    let profiling = marey::ProfilingConfig::from_env_tolerant().0;
    let parent = parent_process(py);
    let is_on = py.detach(|| {
        let recording = marey::start_from_env_with(|config| {
            config.facts = facts;
            join_job_of(parent, config);
        });
        let is_on = recording.is_some();
        std::mem::forget(recording);
        if is_on && marey::recorder().is_some_and(|r| r.capture_path().is_some()) {
            state::sample_gpus(&profiling);
        }
        is_on
    });
    if is_on {
        section_kinds::follow_environment(py, &profiling);
    }
    is_on
}

/// Ends the recording and returns the path of the capture, None when it was in memory or nothing was on.
#[pyfunction]
#[pyo3(signature = (failure=None))]
pub(crate) fn stop(py: Python<'_>, failure: Option<String>) -> Option<OsString> {
    device_watch::stop(py);
    let status = failure.map_or(Status::Finished, Status::of_failure);
    // Text, not a `pathlib.Path`: importing that at exit would make Python forget that it ends by Ctrl-C.
    let capture = py.detach(|| state::stop(&status))?;
    if let Some(text) = py.detach(|| session_report::write_at_end(&capture)) {
        // A line of its own; a closed stderr changes nothing.
        writeln!(std::io::stderr(), "{text}").ok();
    }
    Some(capture.into_os_string())
}

/// The path of the capture; None while it is in memory.
#[pyfunction]
pub(crate) fn capture_path() -> Option<PathBuf> {
    marey::recorder()?.capture_path()
}

/// The mode of files of output, before the umask.
#[pyfunction]
pub(crate) fn file_mode() -> u32 {
    marey::file_mode()
}

fn folder() -> Option<PathBuf> {
    capture_path().and_then(|path| path.parent().map(Into::into))
}

/// A callable that records a section around each call of a plain function; the function itself when recording is switched off.
#[pyfunction]
pub(crate) fn wrap_function<'py>(
    function: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    device_watch::look(name.py());
    match id_of(name) {
        Some(id) => profiled_function::wrap(function, id, section_kinds::mask_of(name)),
        None => Ok(function.clone()),
    }
}

/// Records a point in time with a name.
#[pyfunction]
#[pyo3(signature = (name, /, **attributes))]
pub(crate) fn event(name: &Bound<'_, PyAny>, attributes: Option<&Bound<'_, PyDict>>) {
    if let Some(recorder) = state::recorder() {
        let event = Note::event(text_of(name), from_dict(attributes));
        recorder.note_in(session_context::current_number(name.py()), &event);
    }
}

/// Tells who watches how many steps of its schedule a loop has made, and of how many; nothing when it is done with it.
#[pyfunction]
#[pyo3(signature = (n_made=0, n_steps=0, /))]
pub(crate) fn tell_schedule(n_made: u32, n_steps: u32) {
    if let Some(recorder) = state::recorder() {
        recorder.tell_schedule(n_made, n_steps);
    }
}

/// Records a reading of a counter; NaN, infinities and what is no number are not recorded.
#[pyfunction]
pub(crate) fn counter(name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) {
    let value = value.extract::<f64>().ok().filter(|v| v.is_finite());
    if let (Some(recorder), Some(value)) = (state::recorder(), value) {
        let reading = Note::counter(text_of(name), value);
        recorder.note_in(session_context::current_number(name.py()), &reading);
    }
}

/// What was not recorded so far, by kind; all zero when nothing was lost. What a full disk kept out of the capture is known when that is read.
#[pyfunction]
pub(crate) fn losses(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let losses = match marey::recorder() {
        Some(recorder) => {
            let bytes = py.detach(|| recorder.totals_so_far());
            marey::decode(&bytes, Status::Running).map(|run| run.losses).unwrap_or_default()
        }
        None => marey::Losses::default(),
    };
    [
        ("sections_ring_full", losses.sections_ring_full),
        ("notes_dropped", losses.notes_dropped),
        ("calls_without_name", losses.calls_without_name),
        ("sections_unrecorded", losses.sections_unrecorded),
        ("threads_in_private_memory", losses.threads_in_private_memory),
    ]
    .into_py_dict(py)
}

fn python_facts(facts: &Bound<'_, PyDict>) -> Vec<(String, String)> {
    facts.iter().map(|(key, value)| (text_of(&key), text_of(&value))).collect()
}
