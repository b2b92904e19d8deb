//! What the user wants to watch.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run_folder::{captures, newest_job};

/// What the user wants to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Every process of this user that records.
    All,
    /// The process of a number, and what its job starts later.
    Pid(u32),
    /// The processes of a job.
    Job(PathBuf),
    /// The process of one capture, and what its job starts later.
    Capture(PathBuf),
}

impl Target {
    /// Digits are a process id; anything else is a path.
    ///
    /// # Errors
    /// When the path leads to no job and to no capture.
    pub(crate) fn find(given: Option<&OsStr>) -> Result<Self> {
        let Some(given) = given else {
            return Ok(Self::All);
        };
        if let Some(pid) = given.to_str().and_then(|text| text.parse().ok()) {
            return Ok(Self::Pid(pid));
        }
        let path = Path::new(given);
        let unreadable = || format!("cannot read {}", path.display());
        let real = path.canonicalize().with_context(unreadable)?;
        if !real.is_dir() {
            return Ok(Self::Capture(real));
        }
        if !captures(&real)?.is_empty() {
            return Ok(Self::Job(real));
        }
        match newest_job(&real) {
            Some(job) => Ok(Self::Job(job)),
            None => bail!(
                "{} holds no captures (*.marey), and no folder of a job; name a process id, a job's folder or a capture",
                path.display()
            ),
        }
    }
}
