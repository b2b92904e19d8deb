//! Which job each file of a path is of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::inputs::Folder;
use super::json_file::Whose;
use crate::run_folder::Began;

/// The files of a path by job, or of several that have a job in common.
#[derive(Default)]
pub(super) struct PathJobs {
    /// As they were named.
    pub(super) paths: Vec<PathBuf>,
    /// By id.
    pub(super) jobs: BTreeMap<String, JobFiles>,
    /// What says no job, and lies where no job is told by. It is read whatever job is meant, so that it is used, or named.
    pub(super) jobless: Vec<PathBuf>,
}

/// Files of one job.
#[derive(Clone, Debug, Default)]
pub(super) struct JobFiles {
    pub(super) files: Vec<PathBuf>,
    /// When the last of its processes began: as captures tell, where there are any.
    pub(super) began: Began,
    /// Number of ranks; the highest that is said.
    pub(super) world_size: Option<u32>,
    /// Who started the ranks; empty when no capture says.
    pub(super) launcher: String,
}

impl JobFiles {
    pub(super) fn add(&mut self, more: Self) {
        self.files.extend(more.files);
        self.began = self.began.last(more.began);
        self.world_size = self.world_size.max(more.world_size);
        if self.launcher.is_empty() {
            self.launcher = more.launcher;
        }
    }
}

/// Sorts the files of paths by jobs.
///
/// A capture that does not say its job, since it is cut within its head, is of the job that its folder is called after, or else of the
/// only one that has captures in that folder.
pub(super) fn sorted(held: Vec<Folder>) -> Vec<PathJobs> {
    let mut unsaid: Vec<Vec<PathBuf>> = Vec::new();
    let mut paths: Vec<PathJobs> = Vec::new();
    let mut in_folders = Folders::default();
    for path in held {
        let mut sorted = PathJobs { paths: vec![path.path], ..PathJobs::default() };
        unsaid.push(sorted.add_captures(path.captures, &mut in_folders));
        sorted.add_others(path.others);
        in_folders.names.extend(sorted.jobs.keys().cloned());
        paths.push(sorted);
    }
    for (path, captures) in paths.iter_mut().zip(unsaid) {
        for capture in captures {
            let files = match in_folders.job_of(&capture) {
                Some(id) => &mut path.jobs.entry(id.to_owned()).or_default().files,
                None => &mut path.jobless,
            };
            files.push(capture);
        }
    }
    paths
}

/// What folders tell of the jobs of the files in them.
#[derive(Default)]
struct Folders {
    /// All jobs.
    names: BTreeSet<String>,
    /// Jobs by folder.
    jobs: BTreeMap<PathBuf, BTreeSet<String>>,
}

impl Folders {
    fn job_of(&self, file: &Path) -> Option<&str> {
        let folder = file.parent()?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if let Some(called) = self.names.get(&*name) {
            return Some(called);
        }
        let beside = self.jobs.get(folder)?;
        beside.first().filter(|_| beside.len() == 1).map(String::as_str)
    }
}

impl PathJobs {
    /// Returns those that do not say their job.
    fn add_captures(&mut self, captures: Vec<PathBuf>, folders: &mut Folders) -> Vec<PathBuf> {
        let mut unsaid = Vec::new();
        for capture in captures {
            let Some(info) = marey::peek(&capture).filter(|info| !info.job_id.is_empty()) else {
                unsaid.push(capture);
                continue;
            };
            let launcher = info.facts.iter().find(|(key, _)| key == "launcher");
            if let Some(folder) = capture.parent() {
                let of_folder = folders.jobs.entry(folder.to_owned()).or_default();
                of_folder.insert(info.job_id.clone());
            }
            self.jobs.entry(info.job_id).or_default().add(JobFiles {
                began: Began::of(&capture, Some(info.start_unix_ns)),
                world_size: info.world_size,
                launcher: launcher.map(|(_, name)| name.clone()).unwrap_or_default(),
                files: vec![capture],
            });
        }
        unsaid
    }

    /// When a job with captures began, these tell.
    fn add_others(&mut self, others: Vec<PathBuf>) {
        let recorded: BTreeSet<String> = self.jobs.keys().cloned().collect();
        for other in others {
            let told = Whose::of_report(&other);
            let told = told.as_ref().and_then(|(whose, start)| Some((whose.job()?, *start)));
            let Some((id, start)) = told else {
                self.jobless.push(other);
                continue;
            };
            let job = self.jobs.entry(id.to_owned()).or_default();
            if !recorded.contains(id) {
                job.began = job.began.last(Began::of(&other, start));
            }
            job.files.push(other);
        }
    }
}
