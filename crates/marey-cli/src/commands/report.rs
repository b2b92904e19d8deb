//! `marey report`: the reports of a recording again, from its captures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use marey::Run;
use marey_analysis::SessionRuns;
use marey_folder::run_folder::{
    Chosen, JobFolder, Launches, Place, Reading, beside, folder_of, load_completed, replace,
    report_with_snapshots, session_names, write_capture_documents,
};
use marey_folder::shown;
use marey_folder::thresholds::{Limit, apply};
use marey_report::{
    Document, FirstScreen, RankedJob, Report, Table, html_report, profiling_report, run_document,
    run_tables,
};

use super::output::{self, Format, Found, Output};
use super::{processes, say_problems, show_paths};
use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen;

/// Show or write the report of a recording
///
/// Works while the program is still running, and on captures that are damaged or cut off: what can be read is shown, what
/// cannot is said.
#[derive(Debug, clap::Args)]
#[command(mut_arg("format", |arg| {
    arg.value_parser(Format::parser("report.html beside the captures", &[Format::All]))
}))]
pub(crate) struct Arguments {
    /// A job's folder, the folder above it (its newest job is taken), or one capture file
    #[arg(value_name = "RUN", default_value = "profiling_results")]
    run: PathBuf,
    #[command(flatten)]
    output: output::Arguments,
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
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let output = arguments.output.output(&[Format::All], None)?;
    if output.format == Format::All && (output.file.is_some() || output.is_stdout) {
        bail!("--output names one file; it does not go with --format all");
    }
    match Place::at(&arguments.run, "a job's folder or a capture")? {
        Place::Capture(path) => capture(&path, arguments, &output, console)?,
        Place::Job(path) => job(&path, arguments, &output, console)?,
    }
    Ok(Exit::SUCCESS)
}

impl Arguments {
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

fn capture(
    path: &Path,
    arguments: &Arguments,
    output: &Output<'_>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    if arguments.rank.is_some() || arguments.process.is_some() {
        bail!("--rank and --process choose of a job: name its folder");
    }
    let (mut run, problem) = load_completed(path, None)?;
    Launches::beside(path).add_around(&mut run);
    apply(&arguments.thresholds, &mut run);
    if let Some(problem) = problem {
        console.say(&problem.to_string());
    }
    part(path, path, run, arguments, output, console)
}

fn job(
    path: &Path,
    arguments: &Arguments,
    output: &Output<'_>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
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
    if is_whole && output.format == Format::All {
        return show_paths(&job.write_chosen(Chosen::ALL)?, console);
    }
    // The folder may be somebody else's; what was asked for can be shown all the same.
    if is_whole && let Err(problem) = job.write_without_sessions(job.chosen()) {
        console.say(&problem.to_string());
    }
    if !is_whole && let (Some(main), Some(run)) = (job.main, job.run.take()) {
        let capture = path.join(&job.processes[main].file);
        return part(path, &capture, run, arguments, output, console);
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
    shown.show(output, console)
}

/// A rank or a process of a job, a capture, or a generation of one of these. Its documents lie beside its capture, their names after its name.
fn part(
    place: &Path,
    capture: &Path,
    mut run: Run,
    arguments: &Arguments,
    output: &Output<'_>,
    console: &mut Console<'_>,
) -> anyhow::Result<()> {
    let mut capture = capture.to_owned();
    let (report, generation) = match &arguments.generation {
        None => (report_with_snapshots(folder_of(&capture), &run), None),
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
    if output.format == Format::All {
        let written = write_capture_documents(&capture, &report, &run, Chosen::ALL)?;
        return show_paths(&written, console);
    }
    let shown = Shown {
        screen: first_screen::of_part(&report, place, &arguments.part(generation.as_deref())),
        report: &report,
        run: &run,
        ranks: None,
        processes: String::new(),
        page: beside(&capture, "report.html"),
    };
    shown.show(output, console)
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
    /// A page that nobody named is one of the job's documents, which only the user can read.
    fn show(&self, output: &Output<'_>, console: &mut Console<'_>) -> anyhow::Result<()> {
        if output.is_unnamed_page() {
            return show_paths(&[replace(self.page_name(), &self.page()?)?], console);
        }
        output.show(self, console)
    }
}

impl Found for Shown<'_> {
    /// The first screen; all tables below it, and the processes that they are about, where they are asked for.
    fn text(&self, output: &Output<'_>) -> String {
        let screen = output.screen(&self.screen);
        if !output.asked.full {
            return screen;
        }
        format!("{screen}\n{}{}", output.whole(&self.document(output)), self.processes)
    }

    fn document(&self, _output: &Output<'_>) -> Document {
        run_document(self.report, self.ranks)
    }

    fn tables(&self) -> Vec<Table> {
        run_tables(self.report, self.ranks)
    }

    fn json(&self, output: &Output<'_>) -> Vec<u8> {
        if output.asked.brief {
            self.screen.json().into_bytes()
        } else {
            profiling_report(self.report)
        }
    }

    fn page(&self) -> anyhow::Result<Vec<u8>> {
        Ok(html_report(self.report, self.run, self.ranks))
    }

    fn page_name(&self) -> PathBuf {
        self.page.clone()
    }
}
