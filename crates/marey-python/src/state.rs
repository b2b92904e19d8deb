//! The recorder as this interpreter sees it: started by the first use, or off.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};

use marey::{Config, Recorder, Status};
use pyo3::Python;

use crate::{section_kinds, section_ranges};

const NOT_STARTED: u8 = 0;
const STARTED: u8 = 1;
const STOPPED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(NOT_STARTED);

/// Starts recording in memory if nothing was started yet and the environment does not switch it off. True when recording is on.
#[cold]
pub(crate) fn start_with_first_use() -> bool {
    if STATE.load(Relaxed) != NOT_STARTED {
        return marey::is_on();
    }
    STATE.store(STARTED, Relaxed);
    if is_switched_off() {
        return false;
    }
    let config = Config { output_dir: None, ..Config::from_env().0 };
    // Whoever comes here is attached already.
    Python::try_attach(|py| section_kinds::follow_environment(py, &config.profiling));
    // A recorder that cannot start leaves the program as it is: every call finds it off.
    start(config).is_ok()
}

/// Recording is off, and no first use will start it.
pub(crate) fn is_off_for_good() -> bool {
    !marey::is_on() && STATE.load(Relaxed) != NOT_STARTED
}

/// Starts recording, or moves a recording that is in memory into the folder.
pub(crate) fn start(config: Config) -> Result<(), marey::Error> {
    let to_sample = config.output_dir.is_some().then(|| config.profiling.clone());
    let has_ranges = config.profiling.torch_ranges;
    let recording = marey::start(config)?;
    section_ranges::want(has_ranges);
    // The interpreter ends the recording (`stop`), not a value on some stack.
    std::mem::forget(recording);
    STATE.store(STARTED, Relaxed);
    if let Some(config) = to_sample {
        sample_gpus(&config);
    }
    Ok(())
}

/// Samples GPUs as a configuration says; the recorder samples the host by itself.
pub(crate) fn sample_gpus(config: &marey::ProfilingConfig) {
    if let Some(recorder) = marey::recorder() {
        marey_gpu::sample(recorder, config);
    }
}

/// Ends the recording; the path of its capture if it has one.
pub(crate) fn stop(status: &Status) -> Option<std::path::PathBuf> {
    STATE.store(STOPPED, Relaxed);
    marey::recorder().filter(|_| marey::is_on())?.stop(status)
}

/// The recorder, started if need be; `None` when recording is off.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    go_on();
    if marey::is_on() || start_with_first_use() { marey::recorder() } else { None }
}

/// Marey's own threads rest while the program forks, and go on with the next thing that is recorded.
static IS_RESTING: AtomicBool = AtomicBool::new(false);

/// Ends the threads for a while. Waits for them, so without the GIL.
pub(crate) fn rest(recorder: &'static Recorder) {
    recorder.pause_threads();
    IS_RESTING.store(true, Relaxed);
}

/// Starts the threads again if they rest.
pub(crate) fn go_on() {
    if IS_RESTING.load(Relaxed)
        && IS_RESTING.swap(false, Relaxed)
        && let Some(recorder) = marey::recorder()
    {
        recorder.resume_threads();
    }
}

/// `MAREY_ENABLED=0`.
pub(crate) fn is_switched_off() -> bool {
    std::env::var_os("MAREY_ENABLED").is_some() && !marey::is_asked_for_by_env()
}
