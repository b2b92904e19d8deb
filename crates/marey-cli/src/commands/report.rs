//! `marey report`: the reports of a recording again, from its captures.

use std::collections::BTreeSet;
use std::io::stdout;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use marey::Run;
use marey_analysis::SessionRuns;
use marey_report::{
    FirstScreen, RankedJob, Report, document_text, html_report, markdown_text, profiling_report,
    run_document, run_tables,
};

use super::{processes, say_problems, show_paths};
use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen::{self, Color};
use crate::output_format;
use crate::run_folder::{
    Chosen, JobFolder, Launches, Reading, beside, is_job, load_completed, newest_job, replace,
    replace_named, report_with_snapshots, session_names, write_capture_documents,
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
    #[arg(long, value_name = "PID", conflicts_with = "rank")]
    process: Option<u32>,
    /// Report one rank of a job
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
    /// Report one generation: a session by its name, or by its number from 1
    #[arg(long, value_name = "NAME", visible_alias = "session")]
    generation: Option<String>,
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

    fn is_partial(&self) -> bool {
        self.process.is_some() || self.rank.is_some() || self.generation.is_some()
    }

    /// What of the job was asked for, as on a command line; empty where that is all of it.
    fn part(&self, generation: Option<&str>) -> String {
        let part = |name: &str, value: Option<String>| Some(format!(" {name} {}", value?));
        let parts = [
            part("--process", self.process.map(|pid| pid.to_string())),
            part("--rank", self.rank.map(|rank| rank.to_string())),
            part("--generation", generation.map(str::to_owned)),
        ];
        parts.into_iter().flatten().collect()
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
    if arguments.rank.is_some() || arguments.process.is_some() {
        bail!("--rank and --process choose of a job: name its folder");
    }
    let (mut run, problem) = load_completed(path, None)?;
    Launches::beside(path).add_around(&mut run);
    apply(&arguments.thresholds, &mut run);
    if let Some(problem) = problem {
        console.say(&problem.to_string());
    }
    part(path, path, run, arguments, console)
}

fn job(path: &Path, arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let how = Reading {
        completes: true,
        thresholds: arguments.thresholds.clone(),
        rank: arguments.rank,
        process: arguments.process,
        ..Reading::default()
    };
    let mut job = JobFolder::read(path, &how)?;
    say_problems(&job, console);
    let is_whole = !arguments.is_partial();
    if is_whole && arguments.format() == Format::All {
        show_paths(&job.write_chosen(Chosen::ALL)?, console)?;
        return Ok(Exit::SUCCESS);
    }
    // The folder may be somebody else's; what was asked for can be shown all the same.
    if is_whole && let Err(problem) = job.write_without_sessions(job.chosen()) {
        console.say(&problem.to_string());
    }
    if !is_whole && let (Some(main), Some(run)) = (job.main, job.run.take()) {
        let capture = path.join(&job.processes[main].file);
        return part(path, &capture, run, arguments, console);
    }
    let (Some(report), Some(run)) = (&job.report, &job.run) else {
        bail!("{}", nothing_of(&job, arguments));
    };
    let shown = Shown {
        screen: first_screen::of_job(&job, report),
        report,
        run,
        ranks: job.ranks(),
        processes: processes(&job),
        page: path.join("report.html"),
    };
    shown.show(arguments, console)
}

/// A rank or a process of a job, a capture, or a generation of one of these. Its documents lie beside its capture, their names after its name.
fn part(
    place: &Path,
    capture: &Path,
    mut run: Run,
    arguments: &Arguments,
    console: &mut Console<'_>,
) -> anyhow::Result<Exit> {
    let mut capture = capture.to_owned();
    let (report, generation) = match &arguments.generation {
        None => {
            let folder = capture.parent();
            let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
            let report = report_with_snapshots(folder.unwrap_or(Path::new(".")), &run);
            (report, None)
        }
        Some(asked) => {
            let (index, name) = generation_named(&run, asked)?;
            let session = SessionRuns::new(&run).get(index);
            let session = session.context("what was recorded of it cannot be told apart")?;
            let report = Report::about_session(&run, &session);
            let stem = capture.file_stem().unwrap_or_default().to_string_lossy();
            capture = capture.with_file_name(format!("{stem}-{name}.marey"));
            run = session.run;
            (report, Some(name))
        }
    };
    if arguments.format() == Format::All {
        let written = write_capture_documents(&capture, &report, &run, Chosen::ALL)?;
        show_paths(&written, console)?;
        return Ok(Exit::SUCCESS);
    }
    let shown = Shown {
        screen: first_screen::of_part(&report, place, &arguments.part(generation.as_deref())),
        report: &report,
        run: &run,
        ranks: None,
        processes: String::new(),
        page: beside(&capture, "report.html"),
    };
    shown.show(arguments, console)
}

/// Why nothing is shown.
fn nothing_of(job: &JobFolder, arguments: &Arguments) -> String {
    let folder = shown(&job.path);
    let processes = job.processes.iter();
    let (what, known): (_, BTreeSet<u32>) = match (arguments.rank, arguments.process) {
        (Some(rank), _) => (format!("rank {rank}"), processes.filter_map(|one| one.rank).collect()),
        (None, Some(pid)) => (format!("process {pid}"), processes.map(|one| one.pid).collect()),
        (None, None) => return format!("no capture in {folder} can be read"),
    };
    let known: Vec<String> = known.iter().map(u32::to_string).collect();
    match known.as_slice() {
        [] => format!("no {what} is in {folder}"),
        _ => format!("no {what} is in {folder}; it has {}", known.join(", ")),
    }
}

/// The session that is called so, as its documents are or as a user named it; else the one with this number, from 1. And the name of its
/// documents.
fn generation_named(run: &Run, asked: &str) -> anyhow::Result<(usize, String)> {
    let names = || run.sessions.iter().map(|session| session.name.as_str());
    let safe = session_names(names());
    let found = safe
        .iter()
        .position(|name| name == asked)
        .or_else(|| names().position(|name| name == asked))
        .or_else(|| asked.parse::<usize>().ok()?.checked_sub(1));
    match found.and_then(|index| Some((index, safe.get(index)?.clone()))) {
        Some(found) => Ok(found),
        None if safe.is_empty() => {
            bail!("no generation was recorded: marey.session(NAME) around one makes it one")
        }
        None => {
            bail!("no generation is called {asked}; there are {}, such as {}", safe.len(), safe[0])
        }
    }
}

/// What is shown, in any format.
struct Shown<'a> {
    screen: FirstScreen,
    report: &'a Report,
    /// What the report was made of.
    run: &'a Run,
    /// All ranks, where it is about them.
    ranks: Option<&'a RankedJob>,
    /// Below the tables of text.
    processes: String,
    /// Where a page lies that nobody named.
    page: PathBuf,
}

impl Shown<'_> {
    /// Shows one format, or writes it to the file that the user named. A page always is a file.
    fn show(&self, arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
        let Self { report, ranks, .. } = *self;
        let tables = || Tables::new(run_tables(report, ranks));
        let bytes = match (&arguments.table, arguments.format()) {
            (Some(name), format) => {
                let format = TableFormat::of(&format, arguments.width())?;
                tables().named(name, format, usize::MAX)?.into_bytes()
            }
            (None, Format::Csv) => {
                let written = tables().write_csv(arguments.output.as_deref())?;
                show_paths(&written, console)?;
                return Ok(Exit::SUCCESS);
            }
            (None, Format::Json) if !arguments.brief => profiling_report(report),
            (None, Format::Markdown) => markdown_text(&run_document(report, ranks)).into_bytes(),
            (None, Format::Html) => html_report(report, self.run, ranks),
            (None, Format::Json) => self.screen.json().into_bytes(),
            (None, Format::Text | Format::All) => self.text(arguments).into_bytes(),
        };
        match &arguments.output {
            Some(path) => show_paths(&[replace_named(path.clone(), &bytes)?], console)?,
            None if arguments.format() == Format::Html => {
                show_paths(&[replace(self.page.clone(), &bytes)?], console)?;
            }
            None => console.show(&String::from_utf8_lossy(&bytes))?,
        }
        Ok(Exit::SUCCESS)
    }

    /// The first screen; all tables below it, and the processes that they are about, where they are asked for.
    fn text(&self, arguments: &Arguments) -> String {
        let out = Some(stdout()).filter(|_| arguments.output.is_none());
        let screen = first_screen::text(&self.screen, arguments.color, out.as_ref());
        if !arguments.full {
            return screen;
        }
        let tables = document_text(&run_document(self.report, self.ranks), arguments.width());
        format!("{screen}\n{tables}{}", self.processes)
    }
}
