//! What a `Profiler` writes for people when the recording ends: the reports of the run, and of each of its sessions.
//!
//! Nothing is written when a session ends: that would read the capture on the program's time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use marey_folder::run_folder::{Error, write_reports, write_sessions};

/// The process in which a `Profiler` asked for reports: the end of its recording writes them. 0 while none did.
static WANTED_BY: AtomicU32 = AtomicU32::new(0);

/// This process got its profiler from another one, whose job it is.
static IS_WORKER: AtomicBool = AtomicBool::new(false);

/// Flags of the program's own asked for them: its end shows what there is to see, unless `marey run` does.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// From here on the end of the recording shows its reports.
pub(crate) fn show() {
    IS_SHOWN.store(std::env::var_os("MAREY_LAUNCHER").is_none(), Relaxed);
}

/// From here on the end of the recording writes reports; not in a process forked from this one.
pub(crate) fn want() {
    WANTED_BY.store(std::process::id(), Relaxed);
}

/// From here on the reports of the job are another process's.
pub(crate) fn become_worker() {
    IS_WORKER.store(true, Relaxed);
}

/// Writes the reports of the job whose recording has ended, if a `Profiler` asked for reports; other ranks than the first, and workers,
/// write those of their own sessions, which may have the same ids, into `rank<n>/` and `worker<pid>/`. What is to be said of it, the problem
/// if there is one.
pub(crate) fn write_at_end(capture: &Path) -> Option<String> {
    if WANTED_BY.swap(0, Relaxed) != std::process::id() {
        return None;
    }
    let written = written(capture, capture.parent()?);
    written.unwrap_or_else(|problem| Some(format!("marey: {problem}")))
}

fn written(capture: &Path, folder: &Path) -> Result<Option<String>, Error> {
    match marey::rank().unwrap_or(0) {
        0 if IS_WORKER.load(Relaxed) => {
            let own = format!("worker{}", std::process::id());
            write_sessions(capture, &folder.join(own))?;
        }
        0 => {
            let job = write_reports(folder)?;
            return Ok(IS_SHOWN.load(Relaxed).then(|| marey_cli::conclusion(&job)));
        }
        rank => write_sessions(capture, &folder.join(format!("rank{rank}")))?,
    }
    Ok(None)
}
