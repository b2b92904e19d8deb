//! Which files paths name.
//!
//! ```text
//! FILE     itself
//! FOLDER   captures in it and below
//!          profiling_report.json, traces and summaries in folders that have no captures, in them or below
//! ```
//!
//! A report of a process whose capture is there, too, was made of it and is not read, wherever it lies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey_analysis::job::{Unread, rank_in_name};

use super::jobs::of_jobs;
use super::json_file::JsonFile;
use super::path_jobs::Held;
use super::whose::Whose;
use super::{Inputs, Jobs};
use crate::content::Content;
use crate::in_one_line;
use crate::run_folder::captures;
use crate::shown_path::shown;
use crate::two_names::{first_name, is_second_name};

/// Folders below folders that are looked into.
const MAX_DEPTH: usize = 12;

/// Folders of a job that hold parts of its reports again.
const PARTS: [&str; 1] = ["sessions"];

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

/// What a folder holds, and folders below it.
#[derive(Default)]
struct Folder {
    captures: Vec<PathBuf>,
    others: Vec<PathBuf>,
    /// Folders below that cannot be listed.
    unread: Vec<Unread>,
}

pub(super) fn of(paths: &[PathBuf], jobs: &Jobs) -> anyhow::Result<Inputs> {
    let mut found = Inputs::default();
    let (mut captures, mut held) = (Vec::new(), Vec::new());
    for path in paths {
        match add(path, &mut found, &mut captures) {
            Ok(folder) => held.extend(folder),
            Err(error) => found.unread.push(path_unread(path, &error)),
        }
    }
    let chosen = of_jobs(held, jobs);
    found.remarks = chosen.remarks;
    let refused = chosen.refused.iter();
    found.unread.extend(refused.map(|(path, error)| path_unread(path, error)));
    found.files.extend(chosen.files.iter().map(|path| Input::new(path)));
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

/// Leaves out reports of processes of which there is a capture, chosen or not.
fn leave_out_copies(files: &mut Vec<Input>, captures: &[PathBuf]) {
    let reports: Vec<(usize, Whose)> = files
        .iter()
        .enumerate()
        .filter_map(|(at, file)| Some((at, Whose::of_report(&file.path)?.0)))
        .collect();
    if reports.is_empty() {
        return;
    }
    let recorded = captures.iter().filter_map(|path| Whose::of_capture(path));
    let recorded: BTreeSet<Whose> = recorded.collect();
    let copies = reports.iter().filter(|(_, whose)| recorded.contains(whose));
    let copies: BTreeSet<usize> = copies.map(|(at, _)| *at).collect();
    let mut at = 0..;
    files.retain(|_| at.next().is_none_or(|at| !copies.contains(&at)));
}

/// What a folder holds; a file goes into what was found. All captures, also those of jobs that are not meant, go into `captures`.
fn add(
    path: &Path,
    found: &mut Inputs,
    captures: &mut Vec<PathBuf>,
) -> anyhow::Result<Option<Held>> {
    let kind = std::fs::metadata(path);
    let kind = kind.with_context(|| format!("cannot read {}", path.display()))?;
    if !kind.is_dir() {
        captures.push(path.to_owned());
        found.files.push(Input::new(path));
        return Ok(None);
    }
    let folder = Folder::below(path, 0)?;
    found.unread.extend(folder.unread);
    if folder.captures.is_empty() && folder.others.is_empty() {
        bail!(
            "{} holds no captures (*.marey), no profiling_report.json and no traces",
            path.display()
        );
    }
    captures.extend(folder.captures.iter().cloned());
    Ok(Some(Held { path: path.to_owned(), captures: folder.captures, others: folder.others }))
}

/// A path that names nothing to read: there is no file that could be of a rank.
fn path_unread(path: &Path, error: &anyhow::Error) -> Unread {
    Unread { rank: None, ..unread(path, error) }
}

fn unread(path: &Path, error: &anyhow::Error) -> Unread {
    let file = shown(path);
    Unread { rank: rank_in_name(&file), file, why: in_one_line(error) }
}

impl Folder {
    /// Links to folders are not followed: they lead in circles, and to what is found anyway.
    fn below(folder: &Path, depth: usize) -> anyhow::Result<Self> {
        let mut found = Self { captures: captures(folder)?, ..Self::default() };
        let (folders, files) = listed(folder)?;
        let files: Vec<PathBuf> = files.into_iter().filter(|file| is_candidate(file)).collect();
        let has_report = files.iter().any(|file| is_report(file));
        let is_job = !found.captures.is_empty() || has_report;
        let mut below = Self::default();
        if depth < MAX_DEPTH {
            for folder in folders {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                if is_job && PARTS.contains(&&*name) {
                    continue;
                }
                match Self::below(&folder, depth + 1) {
                    Ok(inner) => {
                        below.captures.extend(inner.captures);
                        below.others.extend(inner.others);
                        below.unread.extend(inner.unread);
                    }
                    Err(error) => below.unread.push(unread(&folder, &error)),
                }
            }
        }
        // What lies beside captures was made of them, or by their windows; so were reports above them.
        if found.captures.is_empty() && below.captures.is_empty() {
            found.others = files;
        }
        found.captures.extend(below.captures);
        found.others.extend(below.others);
        found.unread.extend(below.unread);
        Ok(found)
    }
}

/// Folders and files in a folder, by name; hidden ones are passed over, and links to folders.
fn listed(folder: &Path) -> anyhow::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let unreadable = || format!("cannot read the folder {}", folder.display());
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).with_context(unreadable)? {
        let entry = entry.with_context(unreadable)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => folders.push(path),
            _ if path.is_file() => files.push(path),
            _ => {}
        }
    }
    folders.sort();
    files.sort();
    Ok((folders, files))
}

fn is_report(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("profiling_report") && name.ends_with(".json")
}

/// JSON that tells of a rank, or would if it were whole: that is read, so that it is named. Other JSON is passed over.
fn is_candidate(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_json = name.ends_with(".json") || name.ends_with(".json.gz");
    is_json
        && !is_second_name(path)
        && match Content::of(path) {
            Ok(Content::Trace) => JsonFile::of(path).is_none_or(|file| file != JsonFile::Other),
            _ => JsonFile::is_called_like_one(&name),
        }
}
