//! Traces of torch.profiler: those that were asked for, and those that windows of a run wrote.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use marey::Run;
use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::{Thresholds, trace_answers, trace_findings};
use marey_report::{TraceFile, html_trace};

/// Traces of one capture that are read for its report; of more the last ones by name.
const MAX_FILES: usize = 4;
/// Longest trace that is read for a report; `marey analyze` reads longer ones.
const MAX_BYTES_IN_REPORT: u64 = 64 << 20;
/// Events of a trace for a report: reading more takes too long.
const MAX_EVENTS_IN_REPORT: usize = 4_000_000;

/// What a trace says, and what is the matter by these limits. `name` is how the file is called where it is shown.
///
/// # Errors
/// When the file cannot be read, or is no trace.
pub fn read_trace(path: &Path, name: String, thresholds: &Thresholds) -> anyhow::Result<TraceFile> {
    read_within(path, name, thresholds, Limits::default())
}

fn read_within(
    path: &Path,
    name: String,
    thresholds: &Thresholds,
    limits: Limits,
) -> anyhow::Result<TraceFile> {
    let trace = read(File::open(path)?, limits)?;
    let answers = trace_answers(&trace, None);
    Ok(TraceFile {
        file: name,
        findings: trace_findings(&answers, thresholds),
        answers: Some(answers),
        problem: None,
    })
}

/// The page of traces, with the timeline of the trace at this path.
///
/// # Errors
/// When the file can no longer be read.
pub fn trace_page(files: &[TraceFile], path: &Path) -> anyhow::Result<Vec<u8>> {
    let trace = read(File::open(path)?, Limits::default())?;
    Ok(html_trace(files, &trace))
}

/// The traces that windows of a run wrote, read. One that is long or cannot be read says why it was not.
pub(crate) fn traces_of_windows(folder: &Path, run: &Run) -> Vec<TraceFile> {
    let thresholds = Thresholds::of(run);
    let places = trace_places(folder, run);
    let skipped = places.len().saturating_sub(MAX_FILES);
    let read = places.into_iter().skip(skipped).map(|(name, path)| {
        let refused = |why: String| TraceFile::unread(name.clone(), why);
        match std::fs::metadata(&path) {
            Err(error) => refused(error.to_string()),
            Ok(file) if !file.is_file() => refused("it is no regular file".into()),
            Ok(file) if file.len() > MAX_BYTES_IN_REPORT => refused(format!(
                "longer than {} MiB; `marey analyze` reads it",
                MAX_BYTES_IN_REPORT >> 20
            )),
            Ok(_) => {
                let limits = Limits {
                    rows: MAX_EVENTS_IN_REPORT,
                    ..Limits::default()
                };
                let said = read_within(&path, name.clone(), &thresholds, limits);
                said.unwrap_or_else(|error| refused(error.to_string()))
            }
        }
    });
    read.collect()
}

/// Where the traces of a run's windows are, by the names that are shown: in the folder the file's name, elsewhere the whole path. What is
/// no longer there is left out.
pub(crate) fn trace_places(folder: &Path, run: &Run) -> BTreeMap<String, PathBuf> {
    let home = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let files = run.windows.iter().flat_map(|window| &window.files);
    let named = files.map(|file| Path::new(&file.path));
    let traces = named.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".json") || name.ends_with(".json.gz")
    });
    let found = traces.filter_map(|named| {
        // Where the window says (a relative path is below the folder), or moved with the folder.
        let moved = named.file_name().map(|name| home.join(name));
        let mut candidates = std::iter::once(home.join(named)).chain(moved);
        let path = candidates.find_map(|path| path.canonicalize().ok())?;
        let name = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if parent == home => Path::new(name),
            _ => path.as_path(),
        };
        Some((name.to_string_lossy().into_owned(), path.clone()))
    });
    found.collect()
}
