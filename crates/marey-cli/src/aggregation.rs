//! Files of the ranks of jobs, found and reduced to their summaries: what `marey aggregate` and `marey.aggregate_reports()` share.
//!
//! ```text
//! paths ─► inputs ─► read, in threads ─► Ranks ─► answers
//!          (files)   (one file a thread in memory)
//! ```

mod attempts;
mod inputs;
mod jobs;
mod json_file;
mod path_jobs;
mod read;
mod request;
mod whose;

use std::path::{Path, PathBuf};

use marey_analysis::job::{Ranks, Unread};

pub use inputs::Input;
pub use request::{Concluded, Request};

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

/// Which jobs of a folder with several are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Jobs {
    /// The one that began last.
    #[default]
    Newest,
    /// All of them.
    All,
    /// This one.
    Only(String),
}

impl Jobs {
    /// `all`, or the name of a job.
    pub fn named(name: &str) -> Self {
        match name {
            "all" => Self::All,
            name => Self::Only(name.to_owned()),
        }
    }
}

impl Inputs {
    /// The files of all paths; each once.
    ///
    /// # Errors
    /// When none of the paths holds anything to read. Of several, those that do not are in `unread`.
    pub fn of(paths: &[PathBuf], jobs: &Jobs) -> anyhow::Result<Self> {
        inputs::of(paths, jobs)
    }

    /// Where a file of this name lies.
    pub fn path(&self, name: &str) -> Option<&Path> {
        let file = self.files.iter().find(|file| file.name == name);
        file.map(|file| file.path.as_path())
    }
}

/// Reads files side by side, `n_threads` at a time, and keeps of each what it comes to. The order of files and the number of threads
/// change nothing.
pub fn summaries(files: &[Input], n_threads: usize) -> Ranks {
    read::all(files, n_threads)
}

/// As many threads as there are cores.
pub fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
