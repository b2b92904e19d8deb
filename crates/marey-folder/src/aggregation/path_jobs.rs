//! Which job each file of a path is of.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::content::{Content, Json, opened};
use crate::run_folder::Began;

/// The files of a path by job, or of several that have a job in common.
#[derive(Default)]
pub(super) struct PathJobs {
    /// As they were named.
    pub(super) paths: Vec<PathBuf>,
    /// By id.
    pub(super) jobs: BTreeMap<String, JobFiles>,
    /// What says no job, and lies where nothing else says it. It is read whatever job is meant, so that it is used, or named.
    pub(super) jobless: Vec<PathBuf>,
    /// Captures that do not say their job.
    unsaid: Vec<PathBuf>,
}

/// Files of one job.
#[derive(Clone, Debug, Default)]
pub(super) struct JobFiles {
    pub(super) files: Vec<PathBuf>,
    /// When the last of its processes began: as captures tell, where there are any.
    pub(super) began: Began,
    /// Number of ranks; the highest that is said.
    pub(super) world_size: Option<u32>,
    /// Who started the ranks; empty when no capture says.
    pub(super) launcher: String,
}

impl JobFiles {
    fn add(&mut self, more: Self) {
        self.files.extend(more.files);
        self.began = self.began.last(more.began);
        self.world_size = self.world_size.max(more.world_size);
        if self.launcher.is_empty() {
            self.launcher = more.launcher;
        }
    }
}

/// Gives captures that do not say their job, since they are cut within their heads, to the job that their folder is called after, or else to
/// the only one that has captures in that folder.
pub(super) fn with_unsaid(mut paths: Vec<PathJobs>) -> Vec<PathJobs> {
    for at in 0..paths.len() {
        for capture in std::mem::take(&mut paths[at].unsaid) {
            let job = job_of(&capture, &paths);
            let path = &mut paths[at];
            match job {
                Some(id) => path.jobs.entry(id).or_default().files.push(capture),
                None => path.jobless.push(capture),
            }
        }
    }
    paths
}

fn job_of(capture: &Path, paths: &[PathJobs]) -> Option<String> {
    let folder = capture.parent()?;
    let jobs = || paths.iter().flat_map(|path| &path.jobs);
    let is_called_so = |(id, _): &(&String, &JobFiles)| folder.ends_with(id);
    if let Some((id, _)) = jobs().find(is_called_so) {
        return Some(id.clone());
    }
    let is_here = |job: &JobFiles| job.files.iter().any(|file| file.parent() == Some(folder));
    let beside: BTreeSet<&String> =
        jobs().filter(|(_, job)| is_here(job)).map(|(id, _)| id).collect();
    beside.first().filter(|_| beside.len() == 1).map(|id| (*id).clone())
}

impl PathJobs {
    /// Sorts the captures and the other files of a path by jobs. When a job with captures began, these tell.
    pub(super) fn of(
        path: &Path,
        captures: impl IntoIterator<Item = PathBuf>,
        others: Vec<PathBuf>,
    ) -> Self {
        let mut sorted = Self { paths: vec![path.to_owned()], ..Self::default() };
        for capture in captures {
            let Some(info) = marey::peek(&capture).filter(|info| !info.job_id.is_empty()) else {
                sorted.unsaid.push(capture);
                continue;
            };
            let launcher = info.facts.iter().find(|(key, _)| key == "launcher");
            sorted.jobs.entry(info.job_id).or_default().add(JobFiles {
                began: Began::of(&capture, Some(info.start_unix_ns)),
                world_size: info.world_size,
                launcher: launcher.map(|(_, name)| name.clone()).unwrap_or_default(),
                files: vec![capture],
            });
        }
        let recorded: BTreeSet<String> = sorted.jobs.keys().cloned().collect();
        for other in others {
            let told = Whose::of_report(&other);
            let told = told.as_ref().and_then(|(whose, start)| Some((whose.job()?, *start)));
            let Some((id, start)) = told else {
                sorted.jobless.push(other);
                continue;
            };
            let job = sorted.jobs.entry(id.to_owned()).or_default();
            if !recorded.contains(id) {
                job.began = job.began.last(Began::of(&other, start));
            }
            job.files.push(other);
        }
        sorted
    }

    /// Those of both.
    pub(super) fn with(mut self, other: Self) -> Self {
        self.paths.extend(other.paths);
        self.jobless.extend(other.jobless);
        for (id, more) in other.jobs {
            self.jobs.entry(id).or_default().add(more);
        }
        self
    }
}

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
    fn job(&self) -> Option<&str> {
        let id = self.job_id.as_deref().filter(|id| !id.is_empty())?;
        let is_its_own = self.rank.is_some() && id.ends_with(&format!("-{}", self.pid));
        (!is_its_own).then_some(id)
    }
}
