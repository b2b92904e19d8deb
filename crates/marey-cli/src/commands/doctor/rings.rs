//! Shared memory of recording processes: of those that run, and what dead ones left behind.

use std::path::{Path, PathBuf};

use marey::{Leftover, Status, leftovers};
use marey_report::escape;
use serde::Serialize;

/// All rings that can be seen.
#[derive(Debug, Default, Serialize)]
pub(super) struct Rings {
    /// Process ids of those that record.
    running: Vec<u32>,
    /// What dead processes left.
    left_over: Vec<Left>,
}

/// What one dead process left.
#[derive(Debug, Serialize)]
struct Left {
    pid: u32,
    folder: PathBuf,
    /// The capture that it completes; `None` when the process recorded in memory only.
    capture: Option<PathBuf>,
    /// Freed by this call.
    is_cleaned: bool,
    /// Why it could not be freed.
    problem: Option<String>,
}

impl Rings {
    /// Looks where recorders put them: into `MAREY_RING_DIR`, or the usual place. Frees what dead processes left if asked to.
    pub(super) fn look(clean: bool) -> Self {
        let root = marey_folder::run_folder::ring_root();
        let mut found = Self::default();
        for ring in root.iter().flat_map(|root| leftovers(root)) {
            if ring.is_alive == Some(false) {
                found.left_over.push(Left::new(ring, clean));
            } else {
                found.running.push(ring.identity.pid);
            }
        }
        found
    }

    /// For a terminal.
    pub(super) fn lines(&self) -> Vec<String> {
        let pids: Vec<String> = self.running.iter().map(ToString::to_string).collect();
        let mut lines = Vec::new();
        if !pids.is_empty() {
            lines.push(String::new());
            lines.push(format!("Recording at this moment: process {}", pids.join(", ")));
        }
        if !self.left_over.is_empty() {
            lines.push(String::new());
            lines.push("Left in shared memory by processes that died:".into());
            lines.extend(self.left_over.iter().map(Left::line));
        }
        if self.left_over.iter().any(|left| !left.is_cleaned && left.problem.is_none()) {
            lines.push("marey doctor --clean completes their captures and frees the memory".into());
        }
        lines
    }
}

impl Left {
    fn new(ring: Leftover, clean: bool) -> Self {
        let closed = clean.then(|| ring.close(&Status::EndedWithoutClosing));
        Self {
            pid: ring.identity.pid,
            is_cleaned: matches!(closed, Some(Ok(_))),
            problem: closed.and_then(Result::err).map(|error| error.to_string()),
            folder: ring.folder,
            capture: ring.capture,
        }
    }

    fn line(&self) -> String {
        let shown = |path: &Path| escape::visible(&path.display().to_string());
        let what = match &self.capture {
            Some(capture) => format!("belongs to {}", shown(capture)),
            None => "recorded in memory only, cannot be kept".into(),
        };
        let outcome = match (&self.problem, self.is_cleaned) {
            (Some(problem), _) => format!("; not freed: {}", escape::visible(problem)),
            (None, true) => "; freed".into(),
            (None, false) => String::new(),
        };
        format!("process {}, {}: {what}{outcome}", self.pid, shown(&self.folder))
    }
}
