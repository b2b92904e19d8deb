//! `marey report`: the reports of a recording again, from its captures.

use std::io::stdout;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use marey::Run;
use marey_report::{
    FirstScreen, Report, document_text, html_report, markdown_text, profiling_report, run_document,
    run_tables,
};

use super::{processes, say_problems, show_paths};
use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen::{self, Color};
use crate::output_format;
use crate::run_folder::{
    Chosen, JobFolder, Launches, Reading, beside, is_job, load_completed, newest_job, replace,
    replace_named, report_with_snapshots, write_capture_documents,
};
use crate::shown_path::shown;
use crate::tables::{TableFormat, Tables};
use crate::terminal_width::terminal_width;
use crate::thresholds::{Limit, apply};

/// Show or write the report of a recording
///
/// Works while the program is still running, and on captures that are damaged or cut off: what can be read is shown, what
/// cannot is said.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A job's folder, the folder above it (its newest job is taken), or one capture file
    #[arg(value_name = "RUN", default_value = "profiling_results")]
    run: PathBuf,
    /// What to show; by itself what the ending of --output says, otherwise text
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Show everything as text, not only the first screen
    #[arg(long)]
    full: bool,
    /// Only this table, such as `sections`, with all its rows, as text, JSON, Markdown or CSV; `list` shows the names of all
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Show only the first screen: as JSON a line of at most 4 KiB
    #[arg(long, conflicts_with_all = ["full", "table"])]
    brief: bool,
    /// Colours of the first screen
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Report one process of a job, by its process id
    #[arg(long, value_name = "PID")]
    process: Option<u32>,
    /// A limit of findings for this report, such as `frames_per_second=5`; may be given several times. `docs/findings.md` has them all
    #[arg(long = "threshold", value_name = "NAME=VALUE")]
    thresholds: Vec<Limit>,
    /// Write it to this file instead; csv without --table: into this folder, one file a table
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The summary, on standard output
    Text,
    /// The profiling report, on standard output
    Json,
    /// A summary for pull requests and issues, on standard output
    Markdown,
    /// All rows of each table as a file
    Csv,
    /// The page `report.html` as a file; its path on standard output
    Html,
    /// All of them, as files; their paths on standard output
    All,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    if arguments.table.is_some() {
        TableFormat::of(&arguments.format(), None)?;
    }
    if arguments.format() == Format::All && arguments.output.is_some() {
        bail!("--output names one file; it does not go with --format all");
    }
    if arguments.brief && !matches!(arguments.format(), Format::Text | Format::Json) {
        bail!("--brief goes with --format text or json");
    }
    match Target::find(&arguments.run)? {
        Target::Capture(path) => capture(&path, arguments, console),
        Target::Job(path) => job(&path, arguments, console),
    }
}

impl Arguments {
    fn format(&self) -> Format {
        let said = || output_format::said_by(self.output.as_deref()?);
        self.format.or_else(said).unwrap_or(Format::Text)
    }

    fn width(&self) -> Option<usize> {
        match self.output {
            Some(_) => None,
            None => terminal_width(&stdout()),
        }
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
        if is_job(path)? {
            return Ok(Self::Job(path.to_owned()));
        }
        match newest_job(path) {
            Some(job) => Ok(Self::Job(job)),
            None => bail!(
                "{} holds no captures (*.marey), and no folder of a job; name a job's folder or a capture",
                path.display()
            ),
        }
    }
}

fn capture(path: &Path, arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let (mut run, problem) = load_completed(path, None)?;
    Launches::beside(path).add_around(&mut run);
    apply(&arguments.thresholds, &mut run);
    if let Some(problem) = problem {
        console.say(&problem.to_string());
    }
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let report = report_with_snapshots(folder.unwrap_or(Path::new(".")), &run);
    if arguments.format() == Format::All {
        let written = write_capture_documents(path, &report, &run, Chosen::ALL)?;
        show_paths(&written, console)?;
    } else {
        let page = beside(path, "report.html");
        let text = || {
            text(
                arguments,
                &report,
                &first_screen::of_report(&report, path),
                "",
            )
        };
        show(arguments, &report, &run, page, text, console)?;
    }
    Ok(Exit::SUCCESS)
}

fn job(path: &Path, arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let how = Reading {
        completes: true,
        thresholds: arguments.thresholds.clone(),
        ..Reading::default()
    };
    let job = JobFolder::read(path, &how)?;
    say_problems(&job, console);
    if let Some(pid) = arguments.process {
        return capture(&capture_of(&job, pid)?, arguments, console);
    }
    if arguments.format() == Format::All {
        show_paths(&job.write_chosen(Chosen::ALL)?, console)?;
        return Ok(Exit::SUCCESS);
    }
    // The folder may be somebody else's; what was asked for can be shown all the same.
    if let Err(problem) = job.write_without_sessions(job.chosen()) {
        console.say(&problem.to_string());
    }
    let (Some(report), Some(run)) = (&job.report, &job.run) else {
        bail!("no capture in {} can be read", path.display());
    };
    let screen = || first_screen::of_job(&job, report, &arguments.thresholds);
    let text = || text(arguments, report, &screen(), &processes(&job));
    show(
        arguments,
        report,
        run,
        path.join("report.html"),
        text,
        console,
    )?;
    Ok(Exit::SUCCESS)
}

/// The capture of a process of the job.
fn capture_of(job: &JobFolder, pid: u32) -> anyhow::Result<PathBuf> {
    let processes = &job.processes;
    if let Some(process) = processes.iter().find(|process| process.pid == pid) {
        return Ok(job.path.join(&process.file));
    }
    let known: Vec<String> = processes.iter().map(|one| one.pid.to_string()).collect();
    bail!(
        "no process {pid} is in {}; it has {}",
        shown(&job.path),
        known.join(", ")
    )
}

/// The first screen; all tables below it, and the processes that they are about, where they are asked for.
fn text(arguments: &Arguments, report: &Report, screen: &FirstScreen, processes: &str) -> String {
    if arguments.format() == Format::Json {
        return screen.json();
    }
    let is_shown = arguments.output.is_none();
    let screen = first_screen::text(screen, arguments.color, is_shown.then_some(&stdout()));
    if !arguments.full {
        return screen;
    }
    let tables = document_text(&run_document(report), arguments.width());
    format!("{screen}\n{tables}{processes}")
}

/// Shows one format, or writes it to the file that the user named. A page always is a file: without a name `page`.
fn show(
    arguments: &Arguments,
    report: &Report,
    run: &Run,
    page: PathBuf,
    text: impl FnOnce() -> String,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let tables = || Tables::new(run_tables(report));
    let bytes = match (&arguments.table, arguments.format()) {
        (Some(name), format) => {
            let format = TableFormat::of(&format, arguments.width())?;
            tables().named(name, format, usize::MAX)?.into_bytes()
        }
        (None, Format::Csv) => {
            let written = tables().write_csv(arguments.output.as_deref())?;
            return show_paths(&written, console);
        }
        (None, Format::Json) if !arguments.brief => profiling_report(report),
        (None, Format::Markdown) => markdown_text(&run_document(report)).into_bytes(),
        (None, Format::Html) => html_report(report, run),
        (None, Format::Text | Format::Json | Format::All) => text().into_bytes(),
    };
    match &arguments.output {
        Some(path) => show_paths(&[replace_named(path.clone(), &bytes)?], console),
        None if arguments.format() == Format::Html => {
            show_paths(&[replace(page, &bytes)?], console)
        }
        None => Ok(console.show(&String::from_utf8_lossy(&bytes))?),
    }
}
