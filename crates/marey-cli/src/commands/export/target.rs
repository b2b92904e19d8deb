//! Whose captures a trace is made of.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::super::say_problems;
use crate::console::Console;
use crate::run_folder::{JobFolder, Process, Reading, beside, captures, load_completed};

/// What the user's path names.
#[derive(Debug)]
pub(crate) struct Target {
    /// By rank, then by start. Those that only another process sampled come last.
    pub(crate) captures: Vec<Capture>,
    /// The job's folder, or the capture.
    path: PathBuf,
}

/// A capture that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capture {
    pub(crate) path: PathBuf,
    pub(crate) start_unix_ns: u64,
}

impl Target {
    /// Finds the captures, and completes those of dead processes.
    ///
    /// # Errors
    /// When there is nothing to read, or nothing of that rank.
    pub(crate) fn find(path: &Path, rank: Option<u32>, console: &mut Console<'_>) -> Result<Self> {
        let kind =
            std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        let target = if kind.is_dir() {
            Self::of_job(&job_folder(path)?, rank, console)?
        } else {
            Self::of_capture(path, rank, console)?
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
        let capture = Capture {
            path: path.to_owned(),
            start_unix_ns: run.info.start_unix_ns,
        };
        let is_wanted = rank.is_none() || run.info.rank == rank;
        Ok(Self {
            captures: is_wanted.then_some(capture).into_iter().collect(),
            path: path.to_owned(),
        })
    }

    fn of_job(path: &Path, rank: Option<u32>, console: &mut Console<'_>) -> Result<Self> {
        let job = JobFolder::read(
            path,
            &Reading {
                completes: true,
                ..Reading::default()
            },
        )?;
        say_problems(&job, console);
        let is_wanted = |process: &&Process| {
            (rank.is_none() || process.rank == rank)
                && !(process.is_empty && job.processes.len() > 1)
        };
        let mut processes: Vec<&Process> = job.processes.iter().filter(is_wanted).collect();
        // Stable: in order of their start otherwise.
        processes.sort_by_key(|process| (process.is_outside, process.rank.unwrap_or(0)));
        let captures = processes.into_iter().map(|process| Capture {
            path: path.join(&process.file),
            start_unix_ns: process.start_unix_ns,
        });
        Ok(Self {
            captures: captures.collect(),
            path: path.to_owned(),
        })
    }

    /// A file in the job's folder, or beside the capture with a name after the capture's.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        if self.path.is_dir() {
            self.path.join(name)
        } else {
            beside(&self.path, name)
        }
    }
}

/// A job's folder, or the newest job below a folder.
fn job_folder(path: &Path) -> Result<PathBuf> {
    if !captures(path)?.is_empty() {
        return Ok(path.to_owned());
    }
    path.join("latest").canonicalize().map_err(|_| {
        anyhow::anyhow!(
            "{} holds no captures (*.marey), and no job that `latest` points to; name a job's folder or a capture",
            path.display()
        )
    })
}
