//! Which files paths name.
//!
//! ```text
//! FILE     itself
//! FOLDER   captures in it and below
//!          profiling_report.json, traces and summaries in folders that have no captures, in them or below
//!          dumps of torch's flight recorder
//! ```
//!
//! A report of a process whose capture is there, too, was made of it and is not read, wherever it lies.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey_analysis::job::{Unread, is_of_dump, rank_in_name};

use super::Jobs;
use super::jobs::choose;
use super::path_jobs::{PathJobs, Whose};
use crate::content::{Content, Json, is_dump, is_pickled_dump};
use crate::in_one_line;
use crate::run_folder::{captures, files, folders_below};
use crate::shown;
use crate::two_names::{first_name, is_second_name};

/// Folder of a job that holds parts of its reports again.
const PARTS: &str = "sessions";

/// Files to read.
#[derive(Debug, Default)]
pub struct Inputs {
    /// By name.
    pub files: Vec<Input>,
    /// What people should know of the choice, a sentence each. Not safe to print.
    pub remarks: Vec<String>,
    /// Paths that name nothing to read, while others do.
    pub unread: Vec<Unread>,
}

/// One file to read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    /// How it is called where it is shown. Not safe to print.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

impl Input {
    /// A file by its path.
    pub fn new(path: &Path) -> Self {
        Self { name: shown(path), path: path.to_owned() }
    }
}

impl Inputs {
    /// The files of all paths; each once.
    ///
    /// # Errors
    /// When none of the paths holds anything to read. Of several, those that do not are in `unread`.
    pub fn of(paths: &[PathBuf], jobs: &Jobs) -> anyhow::Result<Self> {
        let mut found = Self::default();
        let (mut captures, mut held) = (Vec::new(), Vec::new());
        for path in paths {
            match add(path, &mut found, &mut captures) {
                Ok(more) => held.extend(more),
                Err(error) => found.unread.push(path_unread(path, &error)),
            }
        }
        choose(held, jobs, &mut found);
        if found.files.is_empty() {
            let whys: Vec<&str> = found.unread.iter().map(|file| file.why.as_str()).collect();
            bail!("{}", whys.join("; "));
        }
        let mut seen = BTreeSet::new();
        found.files.retain(|file| seen.insert(first_name(&file.path)));
        found.files.sort();
        leave_out_copies(&mut found.files, &captures);
        Ok(found)
    }

    /// Where a file of this name lies.
    pub fn path(&self, name: &str) -> Option<&Path> {
        let file = self.files.iter().find(|file| file.name == name);
        file.map(|file| file.path.as_path())
    }
}

/// Leaves out reports of processes of which there is a capture, chosen or not.
fn leave_out_copies(files: &mut Vec<Input>, captures: &[PathBuf]) {
    // Looked into only where there is a report.
    let recorded = LazyCell::new(|| -> BTreeSet<Whose> {
        captures.iter().filter_map(|path| Whose::of_capture(path)).collect()
    });
    files.retain(|file| {
        Whose::of_report(&file.path).is_none_or(|(whose, _)| !recorded.contains(&whose))
    });
}

/// What a folder and those below it hold, by job; a file goes into what was found. All captures, also those of jobs that are not meant, go
/// into `captures`.
fn add(
    path: &Path,
    found: &mut Inputs,
    captures: &mut Vec<PathBuf>,
) -> anyhow::Result<Option<PathJobs>> {
    let kind = std::fs::metadata(path);
    let kind = kind.with_context(|| format!("cannot read {}", path.display()))?;
    if !kind.is_dir() {
        captures.push(path.to_owned());
        found.files.push(Input::new(path));
        return Ok(None);
    }
    let (folders, unlisted) = folders_below(path, |folder| !is_part(folder));
    for (folder, error) in unlisted {
        if folder == path {
            return Err(error.into());
        }
        found.unread.push(unread(&folder, &error.into()));
    }
    let own: BTreeSet<PathBuf> = folders.iter().flat_map(|folder| here(folder)).collect();
    // What lies beside captures was made of them, or by their windows; so were reports above them. Not so dumps.
    let has_captures = |folder: &&PathBuf| {
        own.range::<PathBuf, _>(*folder..).next().is_some_and(|first| first.starts_with(folder))
    };
    let others = |folder: &PathBuf| {
        let is_copy = has_captures(&folder);
        let is_wanted = |file: &Path| {
            is_candidate(file) && (!is_copy || is_called_like_dump(file) || is_dump(file))
        };
        files(folder, is_wanted).unwrap_or_default()
    };
    let others: Vec<PathBuf> = folders.iter().flat_map(others).collect();
    if own.is_empty() && others.is_empty() {
        bail!(
            "{} holds no captures (*.marey), no profiling_report.json, no traces and no dumps of NCCL's flight recorder",
            path.display()
        );
    }
    captures.extend(own.iter().cloned());
    Ok(Some(PathJobs::of(path, own, others)))
}

/// The captures in a folder.
fn here(folder: &Path) -> Vec<PathBuf> {
    captures(folder).unwrap_or_default()
}

/// A folder of a job with parts of its reports.
fn is_part(folder: &Path) -> bool {
    let is_job = |job: &Path| {
        !here(job).is_empty() || files(job, is_report).is_ok_and(|reports| !reports.is_empty())
    };
    folder.ends_with(PARTS) && folder.parent().is_some_and(is_job)
}

/// A path that names nothing to read: there is no file that could be of a rank.
pub(super) fn path_unread(path: &Path, error: &anyhow::Error) -> Unread {
    Unread { rank: None, ..unread(path, error) }
}

fn unread(path: &Path, error: &anyhow::Error) -> Unread {
    let file = shown(path);
    Unread { rank: rank_in_name(&file), file, why: in_one_line(error), is_merged: false }
}

fn is_report(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("profiling_report") && name.ends_with(".json")
}

/// A dump of torch's flight recorder, whatever is in it: that is read, so that it is named.
fn is_called_like_dump(path: &Path) -> bool {
    is_of_dump(&path.file_name().unwrap_or_default().to_string_lossy())
}

/// JSON that tells of a rank, or would if it were whole: that is read, so that it is named. Other JSON is passed over.
fn is_candidate(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_json = name.ends_with(".json") || name.ends_with(".json.gz");
    let stem = name.trim_end_matches(".pkl").trim_end_matches(".pickle");
    // Names of dumps end in the rank.
    let may_be_dump = is_called_like_dump(path)
        || stem.ends_with(|c: char| c.is_ascii_digit()) && is_pickled_dump(path);
    may_be_dump && !is_second_name(path)
        || is_json
            && !name.starts_with('.')
            && !is_second_name(path)
            && match Content::of(path) {
                Ok(Content::Json(kind)) => kind != Json::Other,
                _ => Json::is_called_like_one(&name),
            }
}
