//! Marey's own threads while the program forks: they rest, and go on with the next thing that is recorded.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use marey::Recorder;

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
