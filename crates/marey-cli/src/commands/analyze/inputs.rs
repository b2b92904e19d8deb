//! Which files a command line names.
//!
//! ```text
//! FILE      itself
//! FOLDER    the traces and snapshots in it; of a job's folder also those that its windows wrote elsewhere
//! CAPTURE   those that its windows wrote
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use marey::Run;
use marey_folder::content::{Content, is_snapshot};
use marey_folder::run_folder::{
    RecordedRuns, captures, files, folder_of, memory_snapshot_places, newest_job, trace_places,
};
use marey_folder::shown;
use marey_folder::two_names::{first_name, is_second_name};

/// One file to read.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// How it is called where it is shown. Not safe to print.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// What is in it.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Trace,
    /// With the run of the same process, if it is known.
    Snapshot(Option<Arc<Run>>),
    /// It cannot be read, and why.
    Unreadable(String),
}

/// Documents of Marey in a job's folder.
const OWN_DOCUMENTS: [&str; 4] =
    ["run.json", "profiling_report.json", "memory_log.json", "raw_profiling_data.json"];

/// The files of all paths, in their order; each once.
pub(super) fn of(paths: &[PathBuf], run: Option<&Path>) -> anyhow::Result<Vec<Input>> {
    let run = run.map(recorded).transpose()?.map(Arc::new);
    let mut found = Vec::new();
    for path in paths {
        let named = if path.is_dir() {
            in_folder(path, run.as_ref())?
        } else {
            of_file(path, run.as_ref())?
        };
        found.extend(named);
    }
    let mut seen = BTreeSet::new();
    found.retain(|input| seen.insert(first_name(&input.path)));
    Ok(found)
}

fn of_file(path: &Path, run: Option<&Arc<Run>>) -> anyhow::Result<Vec<Input>> {
    match Content::of(path) {
        Ok(Content::Capture) => of_capture(path),
        content => Ok(vec![Input::new(path, kind(content, run))]),
    }
}

fn kind(content: anyhow::Result<Content>, run: Option<&Arc<Run>>) -> Kind {
    match content {
        Ok(Content::Pickle) => Kind::Snapshot(run.cloned()),
        Ok(Content::Json(_)) => Kind::Trace,
        Ok(Content::Capture) => Kind::Unreadable("is a capture; name it by itself".into()),
        Ok(Content::Other(what)) => Kind::Unreadable(format!("is {what}")),
        Err(error) => Kind::Unreadable(error.to_string()),
    }
}

/// The files in a folder by name, and those that captures in it tell of.
fn in_folder(folder: &Path, run: Option<&Arc<Run>>) -> anyhow::Result<Vec<Input>> {
    let captures = captures(folder)?;
    let mut found = Vec::new();
    for capture in &captures {
        // One that cannot be read says so to `marey report`; the files lie there all the same.
        if let Ok(run) = marey::load(capture) {
            found.extend(of_run(folder, run));
        }
    }
    for path in files(folder, is_candidate)? {
        found.push(Input::new(&path, kind(Content::of(&path), run)));
    }
    if found.is_empty() {
        if captures.is_empty()
            && let Some(newest) = newest_job(folder)
        {
            return in_folder(&newest, run);
        }
        return Err(nothing_in(folder, !captures.is_empty()));
    }
    Ok(found)
}

/// What a run's windows wrote.
fn of_capture(path: &Path) -> anyhow::Result<Vec<Input>> {
    let run = marey::load(path).with_context(|| format!("cannot read {}", path.display()))?;
    let found = of_run(folder_of(path), run);
    if found.is_empty() {
        return Err(nothing_in(path, true));
    }
    Ok(found)
}

fn of_run(folder: &Path, run: Run) -> Vec<Input> {
    let traces = trace_places(folder, &run).into_values();
    let traces: Vec<Input> = traces.map(|path| Input::new(&path, Kind::Trace)).collect();
    let snapshots = memory_snapshot_places(folder, &run);
    let run = Arc::new(run);
    let snapshots =
        snapshots.into_values().map(|path| Input::new(&path, Kind::Snapshot(Some(run.clone()))));
    traces.into_iter().chain(snapshots).collect()
}

fn nothing_in(path: &Path, has_captures: bool) -> anyhow::Error {
    let path = path.display();
    if has_captures {
        return anyhow::anyhow!(
            "{path} holds no trace and no memory snapshot: kernels are recorded by a window of torch's profiler \
             (`profile_window`, or --profile of a script); `marey report {path}` shows what was recorded"
        );
    }
    anyhow::anyhow!("{path} holds no trace (*.json, *.json.gz) and no memory snapshot (*.pickle)")
}

/// By its name a trace or a snapshot, and none of Marey's own documents. Hidden files are half-made ones.
fn is_candidate(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ends_well = [".json", ".json.gz", ".pickle"].iter().any(|e| name.ends_with(e));
    let ends_well = ends_well || name.ends_with(".pkl") && is_snapshot(path);
    let is_meant = ends_well && !name.starts_with('.') && !OWN_DOCUMENTS.contains(&&*name);
    is_meant && !is_second_name(path)
}

/// The first run of a path.
fn recorded(path: &Path) -> anyhow::Result<Run> {
    let runs = RecordedRuns::at(path).with_context(|| format!("cannot read {}", path.display()))?;
    let Some(first) = runs.runs.into_iter().next() else {
        bail!("{} holds no capture that can be read", path.display());
    };
    Ok(first.run)
}

impl Input {
    fn new(path: &Path, kind: Kind) -> Self {
        Self { name: shown(path), path: path.to_owned(), kind }
    }
}
