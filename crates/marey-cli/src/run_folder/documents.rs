//! The derived files of a job: made anew from its captures, each replaced in one step.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use marey::Run;
use marey_report::{
    LaunchFacts, RankedJob, Report, escape, html_report, launch_object, markdown_text, memory_log,
    profiling_report, run_document, status_object, summary,
};
use serde::Serialize;

use super::chosen::Chosen;
use super::replacement::replace;
use super::session_documents::{asks_for_raw_data, write_raw_data, write_session_documents};
use super::{Error, JobFolder, Launched, Process};

/// Version of the shape of `run.json`: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

/// `run.json`.
#[derive(Serialize)]
struct JobObject<'a, S, L, P> {
    schema_version: &'static str,
    job_id: String,
    status: Option<S>,
    launch: Option<L>,
    main: Option<&'a str>,
    processes: Vec<P>,
    unreadable: Vec<String>,
}

/// The command in `run.json`, as its launcher saw it; times in seconds.
#[derive(Serialize)]
struct LaunchedObject<'a, E> {
    command: &'a [String],
    start: f64,
    #[serde(flatten)]
    ended: E,
}

/// One process in `run.json`; times in seconds.
#[derive(Serialize)]
struct ProcessObject<'a, S> {
    file: &'a str,
    pid: u32,
    rank: Option<u32>,
    host: Option<&'a str>,
    forked_from: Option<u32>,
    command: &'a [String],
    status: S,
    start: f64,
    wall: f64,
    recorded_something: bool,
    sampled_from_outside: bool,
}

impl JobFolder {
    /// Writes the documents that the recording's configuration asks for; see [`Self::write_chosen`].
    ///
    /// # Errors
    /// As there.
    pub fn write(&self) -> Result<Vec<PathBuf>, Error> {
        self.write_chosen(self.chosen())
    }

    /// Writes the documents, those of each session after those of the job; returns their paths. Where `latest` in the folder above points here, the documented names stand
    /// there, too.
    ///
    /// # Errors
    /// At the first document that cannot be written; those before it stay.
    pub fn write_chosen(&self, chosen: Chosen) -> Result<Vec<PathBuf>, Error> {
        let mut written = self.write_without_sessions(chosen)?;
        if let Some(run) = &self.run {
            written.extend(write_session_documents(&self.path, run, chosen)?);
            if asks_for_raw_data(run) {
                written.extend(write_raw_data(&self.path, run)?);
            }
        }
        Ok(written)
    }

    /// As [`Self::write_chosen`], without what is of each session, which takes longer the more there are.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn write_without_sessions(&self, chosen: Chosen) -> Result<Vec<PathBuf>, Error> {
        let mut written = vec![replace(self.path.join("run.json"), &self.run_json())?];
        let (Some(report), Some(run)) = (&self.report, &self.run) else {
            return Ok(written);
        };
        let documents = documents(report, run, self.ranks(), chosen);
        for (name, bytes) in &documents {
            written.push(replace(self.path.join(name), bytes)?);
        }
        if let Some(out) = self.path.parent().filter(|out| self.is_newest(out)) {
            for (name, bytes) in &documents {
                written.push(replace(out.join(name), bytes)?);
            }
        }
        Ok(written)
    }

    /// What the recording's configuration asks for.
    pub(crate) fn chosen(&self) -> Chosen {
        self.run.as_ref().map_or(Chosen::ALL, Chosen::of)
    }

    fn is_newest(&self, out: &Path) -> bool {
        let latest = out.join("latest").canonicalize();
        latest.is_ok_and(|latest| self.path.canonicalize().is_ok_and(|path| path == latest))
    }

    /// The job as UTF-8 JSON, safe to print.
    pub fn run_json(&self) -> Vec<u8> {
        let name = self.path.file_name().unwrap_or_default();
        let job = JobObject {
            schema_version: SCHEMA_VERSION,
            job_id: name.to_string_lossy().into_owned(),
            status: self.status().as_ref().map(status_object),
            launch: self.launched.as_ref().map(launched),
            main: self.main.map(|main| self.processes[main].file.as_str()),
            processes: self.processes.iter().map(process).collect(),
            unreadable: self.unreadable.iter().map(ToString::to_string).collect(),
        };
        // String keys and plain values always serialize.
        let text = serde_json::to_string_pretty(&job).unwrap_or_default();
        (escape::json(&text).into_owned() + "\n").into_bytes()
    }
}

/// Writes documents of one capture beside it, their names after the capture's; returns their paths.
///
/// # Errors
/// At the first one that cannot be written.
pub fn write_capture_documents(
    capture: &Path,
    report: &Report,
    run: &Run,
    chosen: Chosen,
) -> Result<Vec<PathBuf>, Error> {
    documents(report, run, None, chosen)
        .iter()
        .map(|(name, bytes)| replace(beside(capture, name), bytes))
        .collect()
}

/// The path of a capture's document: `<capture without its ending>-<name>`.
pub(crate) fn beside(capture: &Path, name: &str) -> PathBuf {
    let mut file = OsString::from(capture.file_stem().unwrap_or_default());
    file.push("-");
    file.push(name);
    capture.with_file_name(file)
}

/// Writes documents of a run into a folder, under the names that users know; makes the folder. Returns their paths.
///
/// # Errors
/// At the first one that cannot be written.
pub fn write_documents(
    folder: &Path,
    report: &Report,
    run: &Run,
    chosen: Chosen,
) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(folder)
        .map_err(|source| Error::NotWritten { path: folder.into(), source })?;
    documents(report, run, None, chosen)
        .iter()
        .map(|(name, bytes)| replace(folder.join(name), bytes))
        .collect()
}

/// Names and bytes. Page and Markdown begin with all ranks of a job; the shape of the others has room for one. The page is last: it is the
/// largest, and what is left out first when a disk is full.
fn documents(
    report: &Report,
    run: &Run,
    ranks: Option<&RankedJob>,
    chosen: Chosen,
) -> Vec<(&'static str, Vec<u8>)> {
    let mut documents = vec![
        ("timing_summary.txt", summary(report).into_bytes()),
        ("memory_log.json", memory_log(report)),
    ];
    if chosen.json {
        documents.push(("profiling_report.json", profiling_report(report)));
    }
    if chosen.markdown {
        documents.push(("report.md", markdown_text(&run_document(report, ranks)).into_bytes()));
    }
    if chosen.html {
        documents.push(("report.html", html_report(report, run, ranks)));
    }
    documents
}

fn launched(found: &Launched) -> impl Serialize {
    let info = &found.run.info;
    LaunchedObject {
        command: &info.command,
        start: seconds(info.start_unix_ns),
        ended: launch_object(&LaunchFacts::new(&found.launch)),
    }
}

fn process(process: &Process) -> impl Serialize {
    ProcessObject {
        file: &process.file,
        pid: process.pid,
        rank: process.rank,
        host: process.host.as_deref(),
        forked_from: process.forked_from,
        command: &process.command,
        status: status_object(&process.status),
        start: seconds(process.start_unix_ns),
        wall: seconds(process.wall_ns),
        recorded_something: !process.is_empty,
        sampled_from_outside: process.is_outside,
    }
}

/// Exact to a microsecond also for times since 1970.
fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}
