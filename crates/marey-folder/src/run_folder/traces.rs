//! Traces of torch.profiler: those that were asked for, and those that windows of a run wrote.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::bail;
use marey::Run;
use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::job::RankSummary;
use marey_analysis::{
    Change, GraphCaptures, Scope, Thresholds, TraceContext, answers_within, find_scope, rank_calls,
    trace_findings, what_if,
};
use marey_report::escape::cut;
use marey_report::{SnapshotFile, TraceFile, TraceRanks, html_trace};

use super::window_files::WindowFiles;

/// Traces of one capture that are read for its report; of more the last ones by name.
const MAX_FILES: usize = 4;
/// Longest trace that is read for a report; `marey analyze` reads longer ones.
const MAX_BYTES_IN_REPORT: u64 = 64 << 20;
/// Events of a trace for a report: reading more takes too long.
const MAX_EVENTS_IN_REPORT: usize = 4_000_000;

/// Names of parts that are listed when one was asked for that is not there.
const MAX_LISTED: usize = 12;
/// Characters of each.
const LISTED_WIDTH: usize = 60;

/// What is asked of a trace.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What is the matter by these limits.
    pub thresholds: Thresholds,
    /// Only this part: `step 3`, `profiler step 2`, `phase vae_decode`.
    pub part: Option<String>,
    /// What it would have taken with these changes; empty for nothing.
    pub what_if: Vec<Change>,
    /// Other traces, in which graphs that it replays were recorded.
    pub graph_captures: Vec<Trace>,
}

/// What a trace says, and the calls with which its ranks exchanged something. `name` is how the file is called where it is shown.
///
/// # Errors
/// When the file cannot be read, is no trace, or has no such part.
pub fn read_trace(
    path: &Path,
    name: String,
    asked: &Asked,
) -> anyhow::Result<(TraceFile, Vec<RankSummary>)> {
    read_within(path, name, asked, Limits::default())
}

fn read_within(
    path: &Path,
    name: String,
    asked: &Asked,
    limits: Limits,
) -> anyhow::Result<(TraceFile, Vec<RankSummary>)> {
    let mut trace = read(File::open(path)?, limits)?;
    let captures = GraphCaptures::beside(&mut trace, &asked.graph_captures);
    let wanted = asked.part.as_deref();
    let scope = wanted.map(|wanted| part(&trace, wanted)).transpose()?;
    let context = TraceContext::with_captures(&trace, scope, captures);
    let mut answers = answers_within(&context);
    if !asked.what_if.is_empty() {
        answers.what_if = Some(what_if(&context, &asked.what_if)?);
    }
    let file = TraceFile {
        file: name,
        findings: trace_findings(&answers, &asked.thresholds),
        answers: Some(answers),
        problem: None,
    };
    Ok((file, rank_calls(&context)))
}

fn part(trace: &Trace, wanted: &str) -> anyhow::Result<Scope> {
    match find_scope(trace, wanted) {
        Ok(scope) => Ok(scope),
        Err(names) if names.is_empty() => bail!(
            "has no {wanted}: it has no steps and no phases; record_function in the program, or prof.step(), tells them"
        ),
        Err(names) => bail!("has no {wanted}; there is {}", listed(&names, wanted)),
    }
}

/// Those of the kind that was asked for, or all when there are none.
fn listed(names: &[String], wanted: &str) -> String {
    let kind = |name: &str| name.rsplit_once(' ').map(|(kind, _)| kind.to_owned());
    let is_alike = |name: &&String| kind(name.as_str()) == kind(wanted);
    let alike: Vec<&String> = names.iter().filter(is_alike).collect();
    let shown = if alike.is_empty() { names.iter().collect() } else { alike };
    let first = shown.iter().take(MAX_LISTED);
    let mut listed: Vec<String> = first.map(|name| cut(name, LISTED_WIDTH)).collect();
    let n_more = names.len().saturating_sub(listed.len());
    if n_more > 0 {
        listed.push(format!("and {n_more} more"));
    }
    listed.join(", ")
}

/// The page of traces, alone and as ranks of one job, with the timeline of the trace at this path, and of memory snapshots beside them.
///
/// # Errors
/// When the file can no longer be read.
pub fn trace_page(
    files: &[TraceFile],
    ranks: Option<&TraceRanks>,
    snapshots: &[SnapshotFile],
    path: &Path,
) -> anyhow::Result<Vec<u8>> {
    let trace = read(File::open(path)?, Limits::default())?;
    Ok(html_trace(files, ranks, snapshots, &trace))
}

/// The traces that windows of a run wrote, read. One that is long or cannot be read says why it was not.
pub(super) fn traces_of_windows(folder: &Path, run: &Run) -> Vec<TraceFile> {
    let asked = Asked { thresholds: Thresholds::of(run), ..Asked::default() };
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
                let limits = Limits { rows: MAX_EVENTS_IN_REPORT, ..Limits::default() };
                let said = read_within(&path, name.clone(), &asked, limits);
                said.map_or_else(|error| refused(error.to_string()), |(file, _)| file)
            }
        }
    });
    read.collect()
}

/// Where the traces of a run's windows are, by the names that are shown. What is no longer there is left out.
pub fn trace_places(folder: &Path, run: &Run) -> BTreeMap<String, PathBuf> {
    WindowFiles::of_run(folder, run, &[".json", ".json.gz"]).found
}
