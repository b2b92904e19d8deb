//! A job's folder: its captures, and the documents that readers make from them.
//!
//! ```text
//! <out>/<job-id>/rank0-<pid>.marey …          written by the processes themselves
//!               /launcher-<pid>.launch        written by `marey run`, of the command it started
//!               /outside-<pid>.marey          written by `marey run`, of a program that does not record itself
//!               /run.json  timing_summary.txt  profiling_report.json  memory_log.json  report.html
//!               /sessions/<safe name>/         timing_summary.txt  profiling_report.json  report.html of one session
//! <out>/timing_summary.txt …                  the same again, of the newest job
//! ```
//!
//! Everything here can be made again from the captures, any time.

mod chosen;
mod cut_off_windows;
mod documents;
mod job_runs;
mod launches;
mod lost;
mod memory_snapshots;
mod newest_job;
mod outside;
mod process;
mod ranks;
mod recorded_runs;
mod replacement;
mod salvage;
mod session_documents;
mod traces;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use marey::{ReadError, Run, Status, Warning};
use marey_report::{RankedJob, Report, RunStatus, StatusKind};

use crate::thresholds::{Limit, apply};
use job_runs::{JobRun, JobRuns};

pub use chosen::Chosen;
pub(crate) use cut_off_windows::{CutOff, JobCaptures};
pub(crate) use documents::beside;
pub use documents::{write_capture_documents, write_documents};
pub(crate) use launches::{Launched, Launches, launch_captures};
use lost::lost;
pub use memory_snapshots::read_memory_snapshot;
pub(crate) use memory_snapshots::{memory_snapshot_places, memory_snapshots};
pub(crate) use newest_job::Began;
pub use newest_job::newest_job;
pub(crate) use outside::is_outside_capture;
pub use process::Process;
pub use recorded_runs::{RecordedRun, RecordedRuns, RecordedRunsError};
pub(crate) use replacement::replace_with;
pub use replacement::{replace, replace_named};
pub use salvage::{load_completed, ring_root};
pub use session_documents::{session_names, write_sessions};
pub use traces::{Asked, read_trace, trace_page};
pub(crate) use traces::{trace_places, traces_of_windows};

/// What can go wrong with a job's folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be listed.
    #[error("cannot read the folder {path}: {source}")]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no capture in it.
    #[error("{path} holds no captures (*.marey)")]
    NoCaptures {
        /// The folder.
        path: PathBuf,
    },
    /// A document cannot be written.
    #[error("cannot write {path}: {source}")]
    NotWritten {
        /// The document.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What a dead process left in shared memory cannot be added to its capture. Reports show it all the same.
    #[error("cannot complete {path}: {source}")]
    NotCompleted {
        /// The capture.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What a job's folder holds, as read at one moment.
#[derive(Debug)]
pub struct JobFolder {
    /// The folder.
    pub path: PathBuf,
    /// Its processes, in order of their start.
    pub processes: Vec<Process>,
    /// Captures of which nothing can be read.
    pub unreadable: Vec<ReadError>,
    /// Index into `processes` of the one that the user means; `None` when no capture can be read.
    pub main: Option<usize>,
    /// Indices of those that the documents describe: the processes of its command.
    described: Vec<usize>,
    /// What its launcher saw of the command; `None` without one.
    pub(crate) launched: Option<Launched>,
    /// What they did; the launcher's own where no process recorded anything.
    pub run: Option<Run>,
    /// What is shown about it.
    pub report: Option<Report>,
    /// What could not be completed.
    pub problems: Vec<Error>,
    how: Reading,
    ranks: OnceLock<Option<RankedJob>>,
}

/// How a job's folder is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Captures of an earlier job of the same name; described only if there are no others.
    pub earlier: BTreeSet<PathBuf>,
    /// Put what dead processes left in shared memory into their captures. Otherwise it is read where it lies.
    pub completes: bool,
    /// A process that was seen to die of a signal, and the signal.
    pub killed: Option<(u32, i32)>,
    /// Limits of findings, above those that were recorded.
    pub thresholds: Vec<Limit>,
    /// Describe this rank alone.
    pub rank: Option<u32>,
    /// Describe the process with this id alone.
    pub process: Option<u32>,
}

/// Reads a job's folder and writes its documents there, and into the folder above if this is the newest job.
///
/// # Errors
/// When there are no captures, or a document cannot be written.
pub fn write_reports(job_folder: &Path) -> Result<JobFolder, Error> {
    let job = JobFolder::read(job_folder, &Reading::default())?;
    job.write()?;
    Ok(job)
}

/// The captures in a folder, sorted by name.
pub fn captures(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    files_with_ending(folder, "marey")
}

/// Whether a folder is a job's: it holds captures, of its processes or of the launcher alone.
pub(crate) fn is_job(folder: &Path) -> Result<bool, Error> {
    Ok(!captures(folder)?.is_empty() || !launch_captures(folder).is_empty())
}

fn files_with_ending(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |source| Error::Unreadable { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|e| e == ending) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The report of a run, with what memory snapshots in this folder and traces of its windows say.
pub(crate) fn report_with_snapshots(folder: &Path, run: &Run) -> Report {
    let mut report = Report::new(run);
    report.snapshot_files = memory_snapshots(folder, run);
    report.trace_files = traces_of_windows(folder, run);
    report
}

impl JobFolder {
    /// Reads all captures of a folder, one after the other; of several ranks only the lowest stays in memory.
    ///
    /// # Errors
    /// When there are none.
    pub fn read(path: &Path, how: &Reading) -> Result<Self, Error> {
        let captures = captures(path)?;
        let mut launches = Launches::read(path);
        if captures.is_empty() && launches.of_job().is_none() {
            return Err(Error::NoCaptures { path: path.to_owned() });
        }
        let (mut processes, mut unreadable, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        let mut runs = JobRuns::default();
        let is_empty = captures.is_empty();
        let mut damage: Vec<(String, String)> = Vec::new();
        for capture in captures {
            match how.load(&capture) {
                Err(error) => unreadable.push(error),
                Ok((mut run, problem)) => {
                    let file = capture.file_name().unwrap_or_default().to_string_lossy();
                    let said = run.warnings.iter().filter(|one| one.is_damage());
                    damage.extend(said.map(|one| (file.to_string(), one.to_string())));
                    launches.learn(&run);
                    launches.add_own(&mut run);
                    problems.extend(problem);
                    let process = Process::new(&capture, &run);
                    if how.describes(&process) {
                        runs.offer(&capture, &process, how.earlier.contains(&capture), run);
                    }
                    processes.push(process);
                }
            }
        }
        processes.sort_by(|a, b| (a.start_unix_ns, &a.file).cmp(&(b.start_unix_ns, &b.file)));
        let best = runs.principal(&launches);
        let launched = launches.of_job().cloned();
        let place = |file: &String| processes.iter().position(|process| process.file == *file);
        let files = best.as_ref().map(|best| best.files.as_slice());
        let described: Vec<usize> = files.unwrap_or_default().iter().filter_map(place).collect();
        let is_main = |best: &JobRun, process: &Process| {
            best.capture.file_name().is_some_and(|name| *name == *process.file)
        };
        let main = best.as_ref();
        let main = main.and_then(|best| processes.iter().position(|one| is_main(best, one)));
        let of_launcher = || Some(launched.as_ref().filter(|_| is_empty)?.run.clone());
        let run = best.map(|mut best| {
            apply(&how.thresholds, &mut best.run);
            if how.is_partial() {
                return best.run;
            }
            // What cannot be read of other captures is missing from the job's report.
            damage.retain(|(file, _)| !best.files.contains(file));
            let damage = damage.into_iter().map(|(file, what)| format!("{file}: {what}"));
            let lost = unreadable.iter().map(ToString::to_string).chain(damage);
            let lost = lost.map(|what| Warning::OtherCapture { what });
            best.run.warnings.extend(lost);
            best.run
        });
        let run = run.or_else(of_launcher);
        let mut report = run.as_ref().map(|run| report_with_snapshots(path, run));
        if let (Some(report), Some(main)) = (&mut report, main.filter(|_| !how.is_partial())) {
            report.status.lost = lost(&processes, &described, main, launched.as_ref());
        }
        Ok(Self {
            path: path.to_owned(),
            main,
            described,
            report,
            run,
            launched,
            processes,
            unreadable,
            problems,
            how: how.clone(),
            ranks: OnceLock::new(),
        })
    }

    /// The processes that the documents do not describe.
    pub fn others(&self) -> impl Iterator<Item = &Process> {
        let others = self.processes.iter().enumerate();
        others.filter(|(index, _)| !self.described.contains(index)).map(|(_, process)| process)
    }

    /// The processes that the documents describe.
    pub fn described(&self) -> impl Iterator<Item = &Process> {
        self.described.iter().map(|index| &self.processes[*index])
    }

    /// How the job ended: running while any process runs that recorded something (helpers of `multiprocessing` end a moment after the command),
    /// else as its launcher saw, else the worst that happened to a process that was not
    /// forked from another, and which processes are gone while it went on. `None` when no capture can be read.
    pub fn status(&self) -> Option<RunStatus> {
        let mut status = self.ending()?;
        if let Some(report) = &self.report {
            status.lost.clone_from(&report.status.lost);
        }
        Some(status)
    }

    fn ending(&self) -> Option<RunStatus> {
        let of_processes = self.status_of_processes();
        if of_processes.is_some_and(|status| status.kind == StatusKind::Running) {
            return of_processes.cloned();
        }
        let seen = self.launched.as_ref().map(|launched| launched.run.ending());
        match seen {
            None | Some(Status::EndedWithoutClosing) => of_processes.cloned(),
            Some(seen) => {
                // The process that the report is about says more of why it failed than an exit code.
                let own = self.run.as_ref().map(Run::ending);
                let own = own.filter(|own| seen.is_failure() && own.is_failure());
                Some(RunStatus::new(&own.unwrap_or(seen)))
            }
        }
    }

    fn status_of_processes(&self) -> Option<&RunStatus> {
        let is_helper =
            |process: &Process| process.status.kind == StatusKind::Running && process.is_empty;
        let severity = |status: &RunStatus| match status.kind {
            StatusKind::Finished => 0,
            StatusKind::EndedWithoutClosing => 1,
            StatusKind::Failed => 2,
            StatusKind::OutOfMemory => 3,
            StatusKind::Killed => 4,
            StatusKind::Running => 5,
        };
        // Workers usually end without a word: those that are forked, and idle ones of any kind.
        let is_worker = |process: &Process| {
            process.forked_from.is_some() || process.is_gone() && process.is_idle()
        };
        let counts =
            |process: &&Process| process.status.kind == StatusKind::Running || !is_worker(process);
        let counted = self.processes.iter().filter(counts);
        let counted = counted.filter(|process| self.launched.is_none() || !is_helper(process));
        counted
            .chain(self.main.map(|main| &self.processes[main]))
            .map(|process| &process.status)
            .max_by_key(|status| severity(status))
    }
}

impl Reading {
    fn describes(&self, process: &Process) -> bool {
        (self.rank.is_none() || process.rank == self.rank)
            && self.process.is_none_or(|pid| process.pid == pid)
    }

    /// A part of the job was asked for.
    fn is_partial(&self) -> bool {
        self.rank.is_some() || self.process.is_some()
    }

    fn load(&self, capture: &Path) -> Result<(Run, Option<Error>), ReadError> {
        if self.completes {
            return load_completed(capture, self.killed);
        }
        marey::load(capture).map(|run| (run, None))
    }
}

/// Which process the documents describe; the least. A launcher such as torchrun records nothing, the oldest process of rank 0
/// that recorded something is the one that the user means. What was only seen from outside comes last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Precedence {
    is_earlier: bool,
    recorded: Recorded,
    is_forked: bool,
    rank: u32,
    start_unix_ns: u64,
    file: String,
}

/// What a process recorded of itself, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Recorded {
    Something,
    Nothing,
    /// Another one did it.
    FromOutside,
}

impl Recorded {
    fn by(process: &Process) -> Self {
        match (process.is_outside, process.is_empty) {
            (true, _) => Self::FromOutside,
            (_, true) => Self::Nothing,
            _ => Self::Something,
        }
    }
}

impl Precedence {
    /// Everything but when and whose child: processes of one kind can be parts of one run, or repeats of each other.
    fn kind(&self) -> (bool, &Recorded, u32) {
        (self.is_earlier, &self.recorded, self.rank)
    }

    fn new(process: &Process, is_earlier: bool) -> Self {
        Self {
            is_earlier,
            recorded: Recorded::by(process),
            is_forked: process.forked_from.is_some(),
            rank: process.rank.unwrap_or(0),
            start_unix_ns: process.start_unix_ns,
            file: process.file.clone(),
        }
    }
}
