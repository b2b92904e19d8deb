//! What a `Profiler` writes for people: the report of a session when that ends, and of the whole run when recording does.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use marey::{ProfilingConfig, Recorder, Status};
use marey_cli::run_folder::{self, Chosen};
use pyo3::prelude::*;

use crate::session_context::Session;
use crate::{device_watch, log};

/// Reading a larger capture would hold the program up; what it says of its sessions is written at the end.
const MAX_CAPTURE_BYTES: u64 = 32 << 20;

/// Reports of sessions may take this long, and a tenth of the time since the first: each reads all of the capture again.
const ALLOWANCE_NS: u64 = 1_000_000_000;
const SHARE: u64 = 10;

/// When the first report began, and how long all took, in ticks.
static FIRST: AtomicU64 = AtomicU64::new(0);
static SPENT: AtomicU64 = AtomicU64::new(0);

/// The process in which a `Profiler` asked for reports: the end of its recording writes those of the run. 0 while none did.
static WANTED_BY: AtomicU32 = AtomicU32::new(0);

/// This process got its profiler from another one, whose job it is.
static IS_WORKER: AtomicBool = AtomicBool::new(false);

/// From here on the end of the recording writes reports; not of a worker's, nor of a process forked from this one.
pub(crate) fn want() {
    if !IS_WORKER.load(Relaxed) {
        WANTED_BY.store(std::process::id(), Relaxed);
    }
}

/// From here on the reports of the job are another process's.
pub(crate) fn become_worker() {
    IS_WORKER.store(true, Relaxed);
}

/// Writes the reports of a session that has ended into `sessions/<safe id>/` of the job's folder (of `rank<n>/` there, but for rank 0, of
/// `worker<pid>/` for a worker),
/// unless the capture is large or reports took too much of the program's time. What cannot be written is logged, once.
pub(crate) fn write(py: Python<'_>, session: &Session, config: &ProfilingConfig) -> PyResult<()> {
    static WAS_SAID: AtomicBool = AtomicBool::new(false);
    device_watch::read_gpu_times(py);
    match py.detach(|| written_in_time(session.number, config)) {
        Ok(()) => Ok(()),
        Err(problem) => log::warn_once(py, &WAS_SAID, &problem.to_string()),
    }
}

fn written_in_time(number: u64, config: &ProfilingConfig) -> Result<(), run_folder::Error> {
    let Some(recorder) = marey::recorder().filter(|_| marey::is_on()) else {
        return Ok(());
    };
    let now = marey::ticks();
    FIRST.compare_exchange(0, now, Relaxed, Relaxed).ok();
    let since_first_ns = recorder.duration_ns(now.saturating_sub(FIRST.load(Relaxed)));
    if recorder.duration_ns(SPENT.load(Relaxed)) > ALLOWANCE_NS + since_first_ns / SHARE {
        return Ok(());
    }
    let result = written(recorder, number, config);
    SPENT.fetch_add(marey::ticks().saturating_sub(now), Relaxed);
    result
}

fn written(
    recorder: &Recorder,
    number: u64,
    config: &ProfilingConfig,
) -> Result<(), run_folder::Error> {
    let path = recorder.capture_path();
    let Some(folder) = path.as_deref().and_then(Path::parent) else {
        return Ok(());
    };
    if recorder.capture_bytes() > MAX_CAPTURE_BYTES {
        return Ok(());
    }
    let Ok(run) = marey::decode(&recorder.capture_so_far(), Status::Running) else {
        return Ok(());
    };
    let Some(index) = run.sessions.iter().position(|s| s.number == number) else {
        return Ok(());
    };
    // Ranks and workers use the same ids for their sessions.
    let folder = match run.info.rank.unwrap_or(0) {
        0 if IS_WORKER.load(Relaxed) => folder.join(format!("worker{}", run.info.pid)),
        0 => folder.to_owned(),
        rank => folder.join(format!("rank{rank}")),
    };
    run_folder::write_documents_of_session(&folder, &run, index, Chosen::of(&run))?;
    if config.save_raw_data {
        run_folder::write_raw_data_of_session(&folder, &run, index)?;
    }
    Ok(())
}

/// Writes the reports of the job whose recording has ended, if a `Profiler` asked for reports; the first rank does. The problem, if there
/// is one.
pub(crate) fn write_at_end(capture: &Path) -> Option<String> {
    let is_first = marey::rank().unwrap_or(0) == 0;
    let is_wanted = WANTED_BY.swap(0, Relaxed) == std::process::id();
    if !is_wanted || !is_first {
        return None;
    }
    let problem = run_folder::write_reports(capture.parent()?).err()?;
    Some(format!("marey: {problem}"))
}
