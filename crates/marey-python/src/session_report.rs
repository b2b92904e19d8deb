//! What a `Profiler` writes for people when the recording ends: the reports of the run, and of each of its sessions.
//!
//! Nothing is written when a session ends: that would read the capture on the program's time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use marey_cli::run_folder::{Error, write_reports, write_sessions};

/// A `Profiler` asked for reports, so the end of the recording writes them.
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// From here on the end of the recording writes reports.
pub(crate) fn want() {
    IS_WANTED.store(true, Relaxed);
}

/// Writes the reports of the job whose recording has ended, if a `Profiler` asked for reports; other ranks than the first those of their own
/// sessions, which may have the same ids, into `rank<n>/`. The problem, if there is one.
pub(crate) fn write_at_end(capture: &Path) -> Option<String> {
    if !IS_WANTED.swap(false, Relaxed) {
        return None;
    }
    let problem = written(capture, capture.parent()?).err()?;
    Some(format!("marey: {problem}"))
}

fn written(capture: &Path, folder: &Path) -> Result<(), Error> {
    match marey::rank().unwrap_or(0) {
        0 => write_reports(folder).map(drop),
        rank => write_sessions(capture, &folder.join(format!("rank{rank}"))),
    }
}
