//! Processes that are looked at from outside: found, looked at again and again, and kept when they die.

mod target;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use marey::live::{Live, Process};
use marey_report::live::{LiveSnapshot, Watch};

use crate::run_folder::captures;
use crate::shown_path::shown;

pub(crate) use target::Target;

/// A capture without a process that was opened just now may get one.
const SETTLED_AFTER: Duration = Duration::from_secs(10);

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
    process: Process,
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
            Target::Pid(pid) => [process.identity.pid, process.pid()].contains(pid) || is_later(),
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
        let newest_of = |job: &Process| {
            let same = self.found.iter().filter(|p| same_job(&p.process, job));
            same.map(|p| (p.snapshot.look.is_running(), p.process.start_unix_ns)).max()
        };
        let newest: Vec<_> = self.found.iter().map(|p| newest_of(&p.process)).collect();
        let mut keyed: Vec<_> = newest.into_iter().zip(self.found.drain(..)).collect();
        keyed.sort_by_cached_key(|(newest, LiveProcess { process, .. })| {
            let place = (process.rank, process.start_unix_ns, process.pid());
            let job = job_folder(process).map(Path::to_owned);
            (Reverse(*newest), job, place)
        });
        self.found.extend(keyed.into_iter().map(|(_, process)| process));
    }
}

impl LiveProcess {
    fn new(process: Process, mut live: Live) -> Self {
        let mut watch = Watch::default();
        let snapshot = watch.take(Some(process.clone()), live.look());
        Self { live, watch, process, snapshot }
    }

    /// Which it is.
    pub(crate) fn process(&self) -> &Process {
        &self.process
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
    let configured = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let rings = configured("MAREY_RING_DIR").map(PathBuf::from).or_else(marey::ring_root);
    let out = configured("MAREY_OUTPUT_DIR").map_or_else(marey::default_output_dir, PathBuf::from);
    rings.into_iter().chain([out.join(".marey-rings")]).collect()
}

/// The folder that a process's capture lies in, which is its job's.
fn job_folder(process: &Process) -> Option<&Path> {
    process.capture.as_deref()?.parent()
}

fn same_job(one: &Process, other: &Process) -> bool {
    match (job_folder(one), job_folder(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.folder == other.folder,
    }
}
