//! Which process of a job a capture or a report tells of.

use std::io::{BufReader, Read};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::content::{Content, Json, opened};

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
struct Report {
    run: Run,
}

#[derive(Deserialize)]
struct Run {
    #[serde(flatten)]
    whose: Whose,
    /// Seconds since 1970.
    start: Option<f64>,
}

/// Longest report that is looked into.
const MAX_REPORT_BYTES: u64 = 1 << 30;

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

    /// Of a profiling report of Marey, with when the process began, nanoseconds since 1970; `None` of anything else, and of a damaged one.
    pub(super) fn of_report(path: &Path) -> Option<(Self, Option<u64>)> {
        if Content::of(path).ok()? != Content::Json(Json::Report) {
            return None;
        }
        let file = BufReader::new(opened(path).ok()?.take(MAX_REPORT_BYTES));
        let Report { run } = serde_json::from_reader(file).ok()?;
        let start = run.start.and_then(|s| Duration::try_from_secs_f64(s).ok());
        let start = start.and_then(|start| u64::try_from(start.as_nanos()).ok());
        (run.whose.pid > 0).then_some((run.whose, start))
    }

    /// The job; `None` when it says none, or, of a rank, one that was made of its own process, which tells nothing of other ranks.
    pub(super) fn job(&self) -> Option<&str> {
        let id = self.job_id.as_deref().filter(|id| !id.is_empty())?;
        let is_its_own = self.rank.is_some() && id.ends_with(&format!("-{}", self.pid));
        (!is_its_own).then_some(id)
    }
}
