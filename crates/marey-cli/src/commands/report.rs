//! `marey report`: the reports of a recording again, from its captures.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use marey_report::{Report, profiling_report};

use super::{other_processes, say_problems, shown};
use crate::console::Console;
use crate::exit::Exit;
use crate::run_folder::{
    JobFolder, Reading, captures, load_completed, summary_of, write_capture_documents,
};

/// Show the reports of a recording again
///
/// Works while the program is still running, and on captures that are damaged or cut off: what can be read is shown, what
/// cannot is said.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A job's folder, the folder above it (its newest job is taken), or one capture file
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The summary, on standard output
    Text,
    /// The profiling report, on standard output
    Json,
    /// All of them, as files; their paths on standard output
    All,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    match Target::find(&arguments.run)? {
        Target::Capture(path) => capture(&path, arguments.format, console),
        Target::Job(path) => job(&path, arguments.format, console),
    }
}

/// What the user's path names.
enum Target {
    Capture(PathBuf),
    Job(PathBuf),
}

impl Target {
    fn find(path: &Path) -> anyhow::Result<Self> {
        let kind =
            std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
        if !kind.is_dir() {
            return Ok(Self::Capture(path.to_owned()));
        }
        if !captures(path)?.is_empty() {
            return Ok(Self::Job(path.to_owned()));
        }
        let latest = path.join("latest");
        match latest.canonicalize() {
            Ok(job) => Ok(Self::Job(job)),
            Err(_) => bail!(
                "{} holds no captures (*.marey), and no job that `latest` points to; name a job's folder or a capture",
                path.display()
            ),
        }
    }
}

fn capture(path: &Path, format: Format, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let (run, problem) = load_completed(path, None)?;
    if let Some(problem) = problem {
        console.say(&problem.to_string());
    }
    let report = Report::new(&run);
    match format {
        Format::Text => console.show(&summary_of(&report))?,
        Format::Json => console.show(&String::from_utf8_lossy(&profiling_report(&report)))?,
        Format::All => show_paths(&write_capture_documents(path, &report)?, console)?,
    }
    Ok(Exit::SUCCESS)
}

fn job(path: &Path, format: Format, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let how = Reading {
        completes: true,
        ..Reading::default()
    };
    let job = JobFolder::read(path, &how)?;
    say_problems(&job, console);
    let written = job.write();
    if format == Format::All {
        show_paths(&written?, console)?;
        return Ok(Exit::SUCCESS);
    }
    // The folder may be somebody else's; what was asked for can be shown all the same.
    if let Err(problem) = written {
        console.say(&problem.to_string());
    }
    let Some(report) = &job.report else {
        bail!("no capture in {} can be read", path.display());
    };
    if format == Format::Json {
        console.show(&String::from_utf8_lossy(&profiling_report(report)))?;
    } else {
        console.show(&(summary_of(report) + &other_processes(&job)))?;
    }
    Ok(Exit::SUCCESS)
}

fn show_paths(paths: &[PathBuf], console: &mut Console<'_>) -> anyhow::Result<()> {
    for path in paths {
        console.show(&(marey_report::escape::visible(&shown(path)) + "\n"))?;
    }
    Ok(())
}
