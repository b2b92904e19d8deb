//! Processes that are looked at from outside: found, looked at again and again, and kept when they die.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use marey::live::{Live, Process};
use marey_folder::run_folder::{Place, captures, output_dir, ring_root};
use marey_folder::shown;
use marey_report::live::{LiveSnapshot, Watch};

/// A capture without a process that was opened just now may get one.
const SETTLED_AFTER: Duration = Duration::from_secs(10);

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
    /// When no process can have this number, or the path leads to no job and to no capture.
    pub(crate) fn find(given: Option<&OsStr>) -> Result<Self> {
        let Some(given) = given else {
            return Ok(Self::All);
        };
        if let Some(number) = given.to_str().filter(|text| text.parse::<u128>().is_ok()) {
            return number.parse().map(Self::Pid).map_err(|_| {
                anyhow!("there is no process {number}; `marey top` shows those that record")
            });
        }
        let path = Path::new(given);
        let real = |found: PathBuf| {
            found.canonicalize().with_context(|| format!("cannot read {}", path.display()))
        };
        Ok(match Place::at(path, "a process id, a job's folder or a capture")? {
            Place::Capture(capture) => Self::Capture(real(capture)?),
            Place::Job(job) => Self::Job(real(job)?),
        })
    }
}

/// The processes of a target.
#[derive(Debug)]
pub(crate) struct LiveProcesses {
    target: Target,
    roots: Vec<PathBuf>,
    /// Folders of rings, and captures, that need no second thought.
    settled: HashSet<PathBuf>,
    found: Vec<LiveProcess>,
    /// Processes that are looked at at a time; more are counted.
    most: usize,
    left_out: u64,
    is_first: bool,
    /// Something lies below the roots that is not of this version.
    sees_others: bool,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct LiveProcess {
    live: Live,
    watch: Watch,
    /// Which it is.
    pub(crate) process: Process,
    /// The latest look.
    pub(crate) snapshot: LiveSnapshot,
}

impl LiveProcesses {
    /// Nothing is looked at yet.
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            roots: roots(),
            settled: HashSet::new(),
            found: Vec::new(),
            most: usize::MAX,
            left_out: 0,
            is_first: true,
            sees_others: false,
        }
    }

    /// Those of a job that is about to run, so many at a time, without captures that lie there already.
    pub(crate) fn of_job_that_starts(
        folder: PathBuf,
        earlier: impl IntoIterator<Item = PathBuf>,
        most: usize,
    ) -> Self {
        Self { settled: earlier.into_iter().collect(), most, ..Self::new(Target::Job(folder)) }
    }

    /// Looks at every process, and finds what is new. Costs some hundred microseconds a process.
    pub(crate) fn refresh(&mut self) {
        self.found.iter_mut().for_each(LiveProcess::look);
        self.find();
        self.sort();
    }

    /// In the order in which they are to be shown.
    pub(crate) fn all(&self) -> &[LiveProcess] {
        &self.found
    }

    /// How many there were no room for.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Looks no more at those that are over, but for the first so many of them; gives the others.
    pub(crate) fn take_over(&mut self, n_kept: usize) -> Vec<LiveProcess> {
        let mut n_over = 0;
        let is_taken = |process: &mut LiveProcess| {
            let is_over = !process.snapshot.look.is_running();
            n_over += usize::from(is_over);
            is_over && n_over > n_kept
        };
        self.found.extract_if(.., is_taken).collect()
    }

    /// Why there is nothing to show, with what to do.
    pub(crate) fn nothing(&self) -> String {
        let others = if self.sees_others {
            "; what another version of Marey records, only that version can show"
        } else {
            ""
        };
        match &self.target {
            Target::All => format!(
                "no process of this user records; start one with `marey run -- PROGRAM`{others}"
            ),
            Target::Pid(pid) => {
                format!("process {pid} does not record; `marey top` shows those that do{others}")
            }
            Target::Job(path) | Target::Capture(path) => {
                let path = shown(path);
                format!(
                    "nothing records into {path} any more; `marey report {path}` shows what was recorded"
                )
            }
        }
    }

    fn find(&mut self) {
        let found = match &self.target {
            Target::Job(folder) => self.of_job(&folder.clone()),
            Target::Capture(capture) if self.is_first => {
                Process::of_capture(capture).into_iter().collect()
            }
            Target::All | Target::Pid(_) | Target::Capture(_) => self.below_roots(),
        };
        let is_job = matches!(self.target, Target::Job(_));
        let is_new = |process: &Process| {
            // Several recordings of one process may use one folder, one after the other; their captures are settled.
            (is_job || self.settled.insert(process.folder.clone())) && self.wants(process)
        };
        let new: Vec<Process> = found.into_iter().filter(is_new).collect();
        for process in new {
            let running = self.found.iter().filter(|p| p.snapshot.look.is_running());
            if running.count() >= self.most {
                self.left_out = self.left_out.saturating_add(1);
            } else if let Some(live) = Live::attach(&process.folder) {
                self.found.push(LiveProcess::new(process, live));
            }
        }
        if self.is_first && matches!(self.target, Target::Capture(_)) {
            // What is there already is not what comes later.
            let others = self.below_roots();
            self.settled.extend(others.into_iter().map(|process| process.folder));
        }
        self.is_first = false;
    }

    /// Whether a process that was not seen before is to be watched.
    fn wants(&self, process: &Process) -> bool {
        let is_later = || {
            let mut jobs = self.found.iter().filter_map(|p| job_folder(&p.process));
            !self.is_first && jobs.any(|job| Some(job) == job_folder(process))
        };
        match &self.target {
            Target::All => process.is_alive != Some(false),
            Target::Pid(pid) => process.is_called(*pid) || is_later(),
            Target::Job(_) => true,
            Target::Capture(_) => self.is_first || is_later(),
        }
    }

    /// Processes below the roots that were not seen before.
    fn below_roots(&mut self) -> Vec<Process> {
        let mut found = Vec::new();
        for root in &self.roots {
            for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
                let folder = entry.path();
                if !self.settled.contains(&folder) {
                    // One that is being made comes again.
                    match Process::at(&folder) {
                        Some(process) => found.push(process),
                        None => self.sees_others |= folder.join("process").exists(),
                    }
                }
            }
        }
        found
    }

    /// Processes that write, or died over, the captures of a job that were not seen before.
    fn of_job(&mut self, folder: &Path) -> Vec<Process> {
        let mut found = Vec::new();
        for capture in captures(folder).unwrap_or_default() {
            if self.settled.contains(&capture) {
                continue;
            }
            // One that is complete has none; but what was opened just now comes again.
            let process = Process::of_capture(&capture);
            if process.is_some() || is_old(&capture) {
                self.settled.insert(capture);
            }
            found.extend(process);
        }
        found
    }

    /// Jobs that run before others, then the newest first; within one by rank, then by start.
    fn sort(&mut self) {
        let mut newest: HashMap<PathBuf, (bool, Option<u64>)> = HashMap::new();
        for LiveProcess { process, snapshot, .. } in &self.found {
            let newest = newest.entry(job_of(process).to_owned()).or_default();
            *newest = (*newest).max((snapshot.look.is_running(), process.start_unix_ns));
        }
        self.found.sort_by_cached_key(|LiveProcess { process, .. }| {
            let job = job_of(process);
            let place = (process.rank, process.start_unix_ns, process.pid());
            (Reverse(newest.get(job).copied()), job.to_owned(), place)
        });
    }
}

impl LiveProcess {
    fn new(process: Process, mut live: Live) -> Self {
        let mut watch = Watch::default();
        let snapshot = watch.take(Some(process.clone()), live.look());
        Self { live, watch, process, snapshot }
    }

    fn look(&mut self) {
        let process = &mut self.process;
        let is_known = process.capture.is_some() && process.start_unix_ns.is_some();
        if self.snapshot.look.is_running() && !is_known {
            *process = self.live.process();
        }
        process.rank = self.live.said_rank().or(process.rank);
        self.snapshot = self.watch.take(Some(process.clone()), self.live.look());
    }
}

/// Nothing has been written to it for a while: it is complete and stays so.
fn is_old(capture: &Path) -> bool {
    let written = capture.metadata().and_then(|file| file.modified());
    let age = written.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > SETTLED_AFTER)
}

/// Where recorders put their rings: the configured place or the usual one, and below the output folder when those had no room.
fn roots() -> Vec<PathBuf> {
    let below_output = output_dir().join(".marey-rings");
    ring_root().into_iter().chain([below_output]).collect()
}

/// The folder that a process's capture lies in, which is its job's.
pub(crate) fn job_folder(process: &Process) -> Option<&Path> {
    process.capture.as_deref()?.parent()
}

/// The same, and of a process without a capture a job of its own.
fn job_of(process: &Process) -> &Path {
    job_folder(process).unwrap_or(&process.folder)
}
