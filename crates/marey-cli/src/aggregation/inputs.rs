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
use marey_analysis::job::{Unread, rank_in_name};

use super::Jobs;
use super::jobs::add_jobs;
use super::json_file::{JsonFile, Whose};
use crate::console::shown;
use crate::content::{Beginning, Content};
use crate::in_one_line;
use crate::run_folder::{captures, files, folders};
use crate::two_names::{first_name, is_second_name};

/// Folders below folders that are looked into.
const MAX_DEPTH: usize = 12;

/// Folders of a job that hold parts of its reports again.
const PARTS: [&str; 1] = ["sessions"];

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

/// What a folder holds, and folders below it.
#[derive(Default)]
pub(super) struct Folder {
    /// As it was named.
    pub(super) path: PathBuf,
    pub(super) captures: Vec<PathBuf>,
    /// Reports, traces and summaries.
    pub(super) others: Vec<PathBuf>,
    /// Folders below that cannot be listed.
    unread: Vec<Unread>,
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
                Ok(folder) => held.extend(folder),
                Err(error) => found.unread.push(path_unread(path, &error)),
            }
        }
        add_jobs(held, jobs, &mut found);
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

/// What a folder holds; a file goes into what was found. All captures, also those of jobs that are not meant, go into `captures`.
fn add(
    path: &Path,
    found: &mut Inputs,
    captures: &mut Vec<PathBuf>,
) -> anyhow::Result<Option<Folder>> {
    let kind = std::fs::metadata(path);
    let kind = kind.with_context(|| format!("cannot read {}", path.display()))?;
    if !kind.is_dir() {
        captures.push(path.to_owned());
        found.files.push(Input::new(path));
        return Ok(None);
    }
    let mut folder = Folder::below(path, 0)?;
    found.unread.append(&mut folder.unread);
    if folder.captures.is_empty() && folder.others.is_empty() {
        bail!(
            "{} holds no captures (*.marey), no profiling_report.json, no traces and no dumps of NCCL's flight recorder",
            path.display()
        );
    }
    captures.extend(folder.captures.iter().cloned());
    Ok(Some(folder))
}

/// A path that names nothing to read: there is no file that could be of a rank.
pub(super) fn path_unread(path: &Path, error: &anyhow::Error) -> Unread {
    Unread { rank: None, ..unread(path, error) }
}

fn unread(path: &Path, error: &anyhow::Error) -> Unread {
    let file = shown(path);
    Unread { rank: rank_in_name(&file), file, why: in_one_line(error) }
}

impl Folder {
    /// Links to folders are not followed: they lead in circles, and to what is found anyway.
    fn below(folder: &Path, depth: usize) -> anyhow::Result<Self> {
        let captures = captures(folder)?;
        let mut found = Self { path: folder.to_owned(), captures, ..Self::default() };
        let files = files(folder, is_candidate)?;
        let has_report = files.iter().any(|file| is_report(file));
        let is_job = !found.captures.is_empty() || has_report;
        let mut below = Self::default();
        if depth < MAX_DEPTH {
            for folder in folders(folder)? {
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                if is_job && PARTS.contains(&&*name) {
                    continue;
                }
                match Self::below(&folder, depth + 1) {
                    Ok(inner) => below.add(inner),
                    Err(error) => below.unread.push(unread(&folder, &error)),
                }
            }
        }
        // What lies beside captures was made of them, or by their windows; so were reports above them. Not so dumps.
        found.others = files;
        if !(found.captures.is_empty() && below.captures.is_empty()) {
            found.others.retain(|file| is_dump(file));
        }
        found.add(below);
        Ok(found)
    }

    fn add(&mut self, other: Self) {
        self.captures.extend(other.captures);
        self.others.extend(other.others);
        self.unread.extend(other.unread);
    }
}

fn is_report(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("profiling_report") && name.ends_with(".json")
}

/// Bytes of a pickle among which groups are looked for: calls, which are long, come after them.
const DUMP_BEGINNING: u64 = 1 << 16;

/// A dump of torch's flight recorder, a pickle or JSON.
pub(crate) fn is_dump(path: &Path) -> bool {
    is_pickled_dump(path) || JsonFile::of(path) == Some(JsonFile::Dump)
}

fn is_pickled_dump(path: &Path) -> bool {
    // With its length before it, of one byte or of four.
    let keys: [&[u8]; 2] = [b"\x09pg_config", b"\x09\0\0\0pg_config"];
    Beginning::of(path, DUMP_BEGINNING).is_ok_and(|first| {
        let has = |key: &[u8]| first.bytes.windows(key.len()).any(|part| part == key);
        first.bytes.first() == Some(&0x80) && keys.into_iter().any(has)
    })
}

/// JSON that tells of a rank, or would if it were whole: that is read, so that it is named. Other JSON is passed over.
fn is_candidate(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_json = name.ends_with(".json") || name.ends_with(".json.gz");
    // Names of dumps end in the rank.
    name.ends_with(|c: char| c.is_ascii_digit()) && !is_second_name(path) && is_pickled_dump(path)
        || is_json
            && !name.starts_with('.')
            && !is_second_name(path)
            && match Content::of(path) {
                Ok(Content::Trace) => JsonFile::of(path).is_none_or(|file| file != JsonFile::Other),
                _ => JsonFile::is_called_like_one(&name),
            }
}
