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

mod cut_off_windows;
mod documents;
mod job_runs;
mod launches;
mod memory_snapshots;
mod newest_job;
mod process;
mod recorded_runs;
mod replacement;
mod session_documents;
mod traces;
mod window_files;

use std::collections::BTreeSet;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, bail};
use marey::{Leftover, ReadError, Run, Status, Warning};
use marey_report::{RankedJob, Report, RunStatus, StatusKind};

use crate::aggregation::{Inputs, Jobs, n_threads, summaries};
use crate::environment;
use crate::thresholds::{Limit, apply, thresholds};
use job_runs::JobRuns;

pub use cut_off_windows::JobCaptures;
pub use documents::{Chosen, beside, write_capture_documents, write_documents};
pub use launches::{Launched, Launches, launch_captures};
use memory_snapshots::memory_snapshots;
pub use memory_snapshots::{memory_snapshot_places, read_memory_snapshot};
pub(crate) use newest_job::Began;
pub use newest_job::newest_job;
use process::lost;
pub use process::{Process, is_outside_capture};
pub use recorded_runs::{RecordedRun, RecordedRuns};
pub use replacement::{replace, replace_named, replace_with};
pub use session_documents::{session_names, write_sessions};
use traces::traces_of_windows;
pub use traces::{Asked, read_trace, trace_page, trace_places};

/// What can go wrong with a job's folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be listed.
    #[error("cannot read the folder {0}: {1}")]
    Unreadable(PathBuf, #[source] io::Error),
    /// There is no capture in this folder.
    #[error("{0} holds no captures (*.marey)")]
    NoCaptures(PathBuf),
    /// A document cannot be written.
    #[error("cannot write {0}: {1}")]
    NotWritten(PathBuf, #[source] io::Error),
    /// What a dead process left in shared memory cannot be added to its capture. Reports show it all the same.
    #[error("cannot complete {0}: {1}")]
    NotCompleted(PathBuf, #[source] io::Error),
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
    pub launched: Option<Launched>,
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

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file.
    Capture(PathBuf),
    /// The folder of a job.
    Job(PathBuf),
}

impl Place {
    /// A folder of jobs stands for the newest of them.
    ///
    /// # Errors
    /// When there is nothing, or no job; `wanted` is what to name instead.
    pub fn at(path: &Path, wanted: &str) -> anyhow::Result<Self> {
        let kind = std::fs::metadata(path);
        let kind = kind.with_context(|| format!("cannot read {}", path.display()))?;
        if !kind.is_dir() {
            return Ok(Self::Capture(path.to_owned()));
        }
        let is_job = !captures(path)?.is_empty() || !launch_captures(path).is_empty();
        let job = if is_job { Some(path.to_owned()) } else { newest_job(path) };
        match job {
            Some(job) => Ok(Self::Job(job)),
            None => bail!(
                "{} holds no captures (*.marey), and no folder of a job; name {wanted}",
                path.display()
            ),
        }
    }
}

/// The captures in a folder, sorted by name.
pub fn captures(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    files(folder, |file| file.extension().is_some_and(|ending| ending == "marey"))
}

/// Files in a folder that are wanted, by name.
pub fn files(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Error> {
    listed(folder, |entry| {
        let path = entry.path();
        // First: opening a pipe waits until somebody writes into it.
        path.is_file() && is_wanted(&path)
    })
}

/// Folders in a folder, by name; neither links nor hidden ones.
pub fn folders(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    listed(folder, |entry| {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir())
    })
}

/// Folders below folders that are looked into.
const MAX_DEPTH: usize = 12;

/// A folder and those below it, each before what is in it, and those that cannot be listed; what is not wanted is left out with all below it.
pub fn folders_below(
    top: &Path,
    is_wanted: impl Fn(&Path) -> bool,
) -> (Vec<PathBuf>, Vec<(PathBuf, Error)>) {
    let (mut found, mut unlisted) = (Vec::new(), Vec::new());
    let mut waiting = vec![(top.to_owned(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        match folders(&folder) {
            Ok(below) => {
                let below = below.into_iter().rev().filter(|_| depth < MAX_DEPTH);
                let wanted = below.filter(|folder| is_wanted(folder));
                waiting.extend(wanted.map(|folder| (folder, depth + 1)));
                found.push(folder);
            }
            Err(error) => unlisted.push((folder, error)),
        }
    }
    (found, unlisted)
}

fn listed(folder: &Path, is_wanted: impl Fn(&DirEntry) -> bool) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |source| Error::Unreadable(folder.to_owned(), source);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if is_wanted(&entry) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The folder that a file lies in.
pub fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The report of a run, with what memory snapshots in this folder and traces of its windows say.
pub fn report_with_snapshots(folder: &Path, run: &Run) -> Report {
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
            return Err(Error::NoCaptures(path.to_owned()));
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
                        runs.offer(&process, how.earlier.contains(&capture), run);
                    }
                    processes.push(process);
                }
            }
        }
        processes.sort_by(|a, b| (a.start_unix_ns, &a.file).cmp(&(b.start_unix_ns, &b.file)));
        let launched = launches.of_job().cloned();
        let of_launcher = launched.as_ref().filter(|_| is_empty);
        let mut run = of_launcher.map(|launched| launched.run.clone());
        let (mut main, mut described) = (None, Vec::new());
        if let Some(mut best) = runs.principal(&launches) {
            let place = |file: &String| processes.iter().position(|process| process.file == *file);
            described.extend(best.files.iter().filter_map(&place));
            main = place(&best.main);
            apply(&how.thresholds, &mut best.run);
            if !how.is_partial() {
                // What cannot be read of other captures is missing from the job's report.
                damage.retain(|(file, _)| !best.files.contains(file));
                let damage = damage.into_iter().map(|(file, what)| format!("{file}: {what}"));
                let lost = unreadable.iter().map(ToString::to_string).chain(damage);
                best.run.warnings.extend(lost.map(|what| Warning::OtherCapture { what }));
            }
            run = Some(best.run);
        }
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

    /// All ranks; `None` of fewer than two, where they do not make one job, and where one of them was asked for. Reads their captures when
    /// it is first asked.
    pub fn ranks(&self) -> Option<&RankedJob> {
        let ranks = self.ranks.get_or_init(|| self.read_ranks());
        ranks.as_ref()
    }

    fn read_ranks(&self) -> Option<RankedJob> {
        let numbers = self.processes.iter().filter_map(|process| process.rank);
        if self.how.is_partial() || numbers.collect::<BTreeSet<u32>>().len() < 2 {
            return None;
        }
        let inputs = Inputs::of(std::slice::from_ref(&self.path), &Jobs::Newest).ok()?;
        let limits = thresholds(&self.how.thresholds);
        let answers = marey_analysis::ranks::ranks(&summaries(&inputs.files, n_threads()), &limits);
        let launched = self.launched.as_ref();
        let launch = launched.map(|of_job| of_job.launch.clone());
        RankedJob::of(answers, launch)
    }

    /// How the job ended: running while any process runs that recorded something (helpers of `multiprocessing` end a moment after the command),
    /// else what the report says of a command whose end a launcher saw, else the worst that happened to a process that was not
    /// forked from another, and which processes are gone while it went on. `None` when no capture can be read.
    pub fn status(&self) -> Option<RunStatus> {
        let of_report = self.report.as_ref().map(|report| &report.status);
        let of_processes = self.status_of_processes();
        let is_running = of_processes.is_some_and(|status| status.kind == StatusKind::Running);
        let seen = self.launched.as_ref().map(|launched| launched.run.ending());
        let seen = seen.filter(|seen| !is_running && *seen != Status::EndedWithoutClosing);
        if let Some(seen) = seen {
            return Some(of_report.map_or_else(|| RunStatus::new(&seen), Clone::clone));
        }
        let lost = of_report.map(|status| status.lost.clone()).unwrap_or_default();
        Some(RunStatus { lost, ..of_processes?.clone() })
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

/// Reads a capture; what its process left in shared memory, if it is dead, is put into the capture first. `killed` is the process
/// that was seen to die of a signal, and the signal. When the capture cannot be written, that comes beside the run, which is
/// whole all the same.
///
/// # Errors
/// When nothing of the capture can be read.
pub fn load_completed(
    capture: &Path,
    killed: Option<(u32, i32)>,
) -> Result<(Run, Option<Error>), ReadError> {
    let run = marey::load(capture)?;
    let Some(left) = left_by(&run, capture) else {
        return Ok((run, None));
    };
    let status = match killed {
        Some((pid, signal)) if pid == left.identity.pid => Status::Killed(signal),
        _ => Status::EndedWithoutClosing,
    };
    match left.close(&status) {
        Ok(_) => Ok((marey::load(capture)?, None)),
        Err(source) => {
            let problem = Error::NotCompleted(capture.to_owned(), source);
            Ok((Run { status, ..run }, Some(problem)))
        }
    }
}

/// Where programs record by themselves: into `MAREY_OUTPUT_DIR`, or the usual place.
pub fn output_dir() -> PathBuf {
    environment("MAREY_OUTPUT_DIR").map_or_else(marey::default_output_dir, PathBuf::from)
}

/// Where recorders put their rings: into `MAREY_RING_DIR`, or the usual place.
pub fn ring_root() -> Option<PathBuf> {
    environment("MAREY_RING_DIR").map(PathBuf::from).or_else(marey::ring_root)
}

/// The rings of a dead process that belong to this capture. A capture says itself where its rings are.
fn left_by(run: &Run, capture: &Path) -> Option<Leftover> {
    if run.status != Status::EndedWithoutClosing {
        return None;
    }
    let mut facts = run.info.facts.iter().rev();
    let (_, folder) = facts.find(|(key, folder)| key == "ring_folder" && !folder.is_empty())?;
    let left = Leftover::at(Path::new(folder))?;
    let theirs = left.capture.as_ref()?.canonicalize().ok()?;
    let is_ours = capture.canonicalize().is_ok_and(|ours| ours == theirs);
    (is_ours && left.is_alive == Some(false)).then_some(left)
}
