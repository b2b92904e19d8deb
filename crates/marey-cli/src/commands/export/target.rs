//! Whose captures a trace is made of.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use marey_folder::run_folder::{
    JobFolder, Place, Process, Reading, beside, captures, load_completed,
};

use super::super::say_problems;
use super::Capture;
use crate::console::Console;
use crate::exit::Exit;

/// What the user's path names.
#[derive(Debug)]
pub(in crate::commands) struct Target {
    /// By rank, then by start. Those that only another process sampled come last.
    pub(in crate::commands) captures: Vec<Capture<'static>>,
    /// Names of the job's captures of which nothing can be read; nobody knows of what rank they are.
    pub(crate) unread: Vec<String>,
    /// The job's folder, or the capture.
    path: PathBuf,
}

impl Target {
    /// Finds the captures, and completes those of dead processes. In a job of several those that recorded nothing but readings are left out,
    /// unless they are wanted: a viewer would show tracks without anything to see.
    ///
    /// # Errors
    /// When there is nothing to read, or nothing of that rank.
    pub(crate) fn find(
        path: &Path,
        rank: Option<u32>,
        with_empty: bool,
        console: &mut Console<'_>,
    ) -> Result<Self> {
        let target = match Place::at(path, "a job's folder or a capture")? {
            Place::Job(job) => Self::of_job(&job, rank, with_empty, console)?,
            Place::Capture(capture) => Self::of_capture(&capture, rank, console)?,
        };
        if target.captures.is_empty() {
            match rank {
                Some(rank) => bail!("{} holds nothing of rank {rank}", path.display()),
                None => bail!("no capture in {} can be read", path.display()),
            }
        }
        Ok(target)
    }

    fn of_capture(path: &Path, rank: Option<u32>, console: &mut Console<'_>) -> Result<Self> {
        let (run, problem) = load_completed(path, None)?;
        if let Some(problem) = problem {
            console.say(&problem.to_string());
        }
        let start_unix_ns = run.info.start_unix_ns;
        let capture = Capture { path: path.to_owned(), start_unix_ns, calls: &[] };
        let is_wanted = rank.is_none() || run.info.rank == rank;
        Ok(Self {
            captures: is_wanted.then_some(capture).into_iter().collect(),
            unread: Vec::new(),
            path: path.to_owned(),
        })
    }

    fn of_job(
        path: &Path,
        rank: Option<u32>,
        with_empty: bool,
        console: &mut Console<'_>,
    ) -> Result<Self> {
        let job = JobFolder::read(path, &Reading { completes: true, ..Reading::default() })?;
        say_problems(&job, console);
        let is_wanted = |process: &&Process| {
            (rank.is_none() || process.rank == rank)
                && (with_empty || !process.is_empty || job.processes.len() == 1)
        };
        let mut processes: Vec<&Process> = job.processes.iter().filter(is_wanted).collect();
        // Stable: in order of their start otherwise.
        processes.sort_by_key(|process| (process.is_outside, process.rank.unwrap_or(0)));
        let wanted = processes.into_iter().map(|process| Capture {
            path: path.join(&process.file),
            start_unix_ns: process.start_unix_ns,
            calls: &[],
        });
        let names = captures(path)?;
        let names = names.iter().filter_map(|capture| capture.file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        let is_read = |name: &String| job.processes.iter().any(|process| process.file == *name);
        Ok(Self {
            captures: wanted.collect(),
            unread: names.filter(|name| !is_read(name)).collect(),
            path: path.to_owned(),
        })
    }

    /// How an export of it ends.
    pub(crate) fn exit(&self) -> Exit {
        if self.unread.is_empty() { Exit::SUCCESS } else { Exit::FAILED }
    }

    /// A file in the job's folder, or beside the capture with a name after the capture's.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        if self.path.is_dir() { self.path.join(name) } else { beside(&self.path, name) }
    }
}
