//! Which process a file tells of, by its beginning.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use super::json_file::JsonFile;

/// A process of a job, as a capture and the reports made of it say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(default)]
pub(super) struct Whose {
    job_id: Option<String>,
    rank: Option<u32>,
    pid: u32,
}

/// What is read of a report.
#[derive(Deserialize)]
struct Beginning {
    run: Whose,
}

/// Longest report that is looked into.
const MAX_BYTES: u64 = 1 << 30;

impl Whose {
    /// `None` when the capture does not begin with what it is of.
    pub(super) fn of_capture(path: &Path) -> Option<Self> {
        let info = marey::peek(path)?;
        Some(Self {
            job_id: Some(info.job_id).filter(|id| !id.is_empty()),
            rank: info.rank,
            pid: info.pid,
        })
    }

    /// Of a profiling report of Marey; `None` of anything else, and of a damaged one.
    pub(super) fn of_report(path: &Path) -> Option<Self> {
        if JsonFile::of(path)? != JsonFile::Report {
            return None;
        }
        let file = BufReader::new(File::open(path).ok()?.take(MAX_BYTES));
        let report: Beginning = serde_json::from_reader(file).ok()?;
        Some(report.run).filter(|whose| whose.pid > 0)
    }

    /// The job; `None` when it says none, or, of a rank, one that was made of its own process, which tells nothing of other ranks.
    pub(super) fn job(&self) -> Option<&str> {
        let id = self.job_id.as_deref().filter(|id| !id.is_empty())?;
        let is_its_own = self.rank.is_some() && id.ends_with(&format!("-{}", self.pid));
        (!is_its_own).then_some(id)
    }
}
