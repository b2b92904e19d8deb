//! The derived files of a job: made anew from its captures, each replaced in one step.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use marey::Run;
use marey_report::{
    RankedJob, Report, html_report, launch_object, markdown_text, memory_log, profiling_report,
    run_document, status_object, summary,
};
use serde::Serialize;

use super::replacement::replace;
use super::session_documents::write_of_sessions;
use super::{Error, JobFolder, Launched, Process};
use crate::json;

/// Version of the shape of `run.json`: the first number changes when a key changes its meaning or goes.
const SCHEMA_VERSION: &str = "1.0";

/// `run.json`.
#[derive(Serialize)]
struct JobObject<'a, S, L> {
    schema_version: &'static str,
    job_id: String,
    status: Option<S>,
    launch: Option<L>,
    main: Option<&'a str>,
    processes: &'a [Process],
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

/// Which documents are written. The summary and the memory log always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// `report.html`.
    pub html: bool,
    /// `profiling_report.json`.
    pub json: bool,
    /// `report.md`.
    pub markdown: bool,
}

impl Chosen {
    /// Every document.
    pub const ALL: Self = Self { html: true, json: true, markdown: true };

    /// What is read by programs, and the texts; without a page.
    pub const JSON: Self = Self { html: false, json: true, markdown: false };

    /// What the `report_format` of the recording's configuration says, or that of the last profiler in it. Both without a word.
    pub fn of(run: &Run) -> Self {
        let mut said = run.info.facts.iter().rev();
        let format = said.find(|(key, _)| key == "profiling.report_format");
        let format = format.map_or("both", |(_, value)| value.as_str());
        Self { html: format != "json", json: format != "html", markdown: false }
    }
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
            written.extend(write_of_sessions(&self.path, run, chosen)?);
        }
        Ok(written)
    }

    /// As [`Self::write_chosen`], without what is of each session, which takes longer the more there are.
    pub fn write_without_sessions(&self, chosen: Chosen) -> Result<Vec<PathBuf>, Error> {
        let mut written = vec![replace(self.path.join("run.json"), &self.run_json())?];
        let (Some(report), Some(run)) = (&self.report, &self.run) else {
            return Ok(written);
        };
        let documents = documents(report, run, self.ranks(), chosen);
        written.extend(put(&documents, |name| self.path.join(name))?);
        if let Some(out) = self.path.parent().filter(|out| self.is_newest(out)) {
            written.extend(put(&documents, |name| out.join(name))?);
        }
        Ok(written)
    }

    /// What the recording's configuration asks for.
    pub fn chosen(&self) -> Chosen {
        self.run.as_ref().map_or(Chosen::ALL, Chosen::of)
    }

    fn is_newest(&self, out: &Path) -> bool {
        let latest = out.join("latest").canonicalize();
        latest.is_ok_and(|latest| self.path.canonicalize().is_ok_and(|path| path == latest))
    }

    /// The job as UTF-8 JSON, safe to print.
    pub fn run_json(&self) -> Vec<u8> {
        let name = self.path.file_name().unwrap_or_default();
        json(&JobObject {
            schema_version: SCHEMA_VERSION,
            job_id: name.to_string_lossy().into_owned(),
            status: self.status().as_ref().map(status_object),
            launch: self.launched.as_ref().map(launched),
            main: self.main.map(|main| self.processes[main].file.as_str()),
            processes: &self.processes,
            unreadable: self.unreadable.iter().map(ToString::to_string).collect(),
        })
        .into_bytes()
    }
}

/// Writes documents of one capture beside it, their names after the capture's; returns their paths.
pub fn write_capture_documents(
    capture: &Path,
    report: &Report,
    run: &Run,
    chosen: Chosen,
) -> Result<Vec<PathBuf>, Error> {
    put(&documents(report, run, None, chosen), |name| beside(capture, name))
}

/// The path of a capture's document: `<capture without its ending>-<name>`.
pub fn beside(capture: &Path, name: &str) -> PathBuf {
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
    std::fs::create_dir_all(folder).map_err(|source| Error::NotWritten(folder.into(), source))?;
    put(&documents(report, run, None, chosen), |name| folder.join(name))
}

/// Writes documents at their places; returns these.
pub(super) fn put(
    documents: &[(&str, Vec<u8>)],
    place: impl Fn(&str) -> PathBuf,
) -> Result<Vec<PathBuf>, Error> {
    documents.iter().map(|(name, bytes)| replace(place(name), bytes)).collect()
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
        ended: launch_object(&found.launch),
    }
}

/// Exact to a microsecond also for times since 1970.
pub(super) fn seconds(ns: u64) -> f64 {
    std::time::Duration::from_nanos(ns).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_testing::RunBuilder;

    fn chosen(formats: &[&str]) -> (bool, bool) {
        let fact = |format: &&str| ("profiling.report_format".to_owned(), (*format).to_owned());
        let run = RunBuilder::new()
            .with(|run| run.info.facts = formats.iter().map(fact).collect())
            .finish(1);
        let chosen = Chosen::of(&run);
        (chosen.html, chosen.json)
    }

    #[test]
    fn the_last_word_of_the_configuration_counts() {
        assert_eq!(chosen(&[]), (true, true));
        assert_eq!(chosen(&["html"]), (true, false));
        assert_eq!(chosen(&["html", "json"]), (false, true));
        assert_eq!(chosen(&["json", "both"]), (true, true));
    }
}
