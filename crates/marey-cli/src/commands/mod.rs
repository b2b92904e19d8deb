//! One file per command.

pub(crate) mod aggregate;
pub(crate) mod analyze;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod top;
pub(crate) mod view;

use std::path::{Path, PathBuf};

use marey_report::escape;

use crate::arguments::Command;
use crate::console::Console;
use crate::exit::Exit;
use crate::run_folder::{JobFolder, Process};
use crate::shown_path::shown;

/// Runs a command.
pub(crate) fn run(command: &Command, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    match command {
        Command::Run(arguments) => Ok(run::run(arguments, console)),
        Command::Report(arguments) => report::run(arguments, console),
        Command::Analyze(arguments) => analyze::run(arguments, console),
        Command::Aggregate(arguments) => aggregate::run(arguments, console),
        Command::Compare(arguments) => compare::run(arguments, console),
        Command::Doctor(arguments) => doctor::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::Export(arguments) => export::run(arguments, console),
        Command::View(arguments) => view::run(arguments, console),
        Command::Top(arguments) => top::run(arguments, console),
        Command::Demo(arguments) => demo::run(arguments, console),
    }
}

/// The processes that the summary is about, if they are several, and those that it is not about, a line each.
fn processes(job: &JobFolder) -> String {
    let list = |title: &str, lines: &[String]| format!("\n{title}:\n{}\n", lines.join("\n"));
    let described: Vec<String> = job.described().map(Process::line).collect();
    let others: Vec<String> = job.others().map(Process::line).collect();
    let mut text = String::new();
    if described.len() > 1 {
        text += &list("Processes in this summary", &described);
    }
    if !others.is_empty() {
        text += &list("Other processes of this job", &others);
    }
    text
}

/// What could not be read or completed, a line each.
fn say_problems(job: &JobFolder, console: &mut Console<'_>) {
    for unreadable in &job.unreadable {
        console.say(&unreadable.to_string());
    }
    for problem in &job.problems {
        console.say(&problem.to_string());
    }
}

/// Where the documents of a job are, and last the one to open.
fn say_written(written: &[PathBuf], folder: &Path, console: &mut Console<'_>) {
    console.say(&format!("reports are in {}", shown(folder)));
    let page = folder.join("report.html");
    if written.contains(&page) {
        console.say(&format!("open {}", shown(&page)));
    }
}

/// Where documents are, a line each.
fn show_paths(paths: &[PathBuf], console: &mut Console<'_>) -> anyhow::Result<()> {
    for path in paths {
        console.show(&(escape::visible(&shown(path)) + "\n"))?;
    }
    Ok(())
}

/// Rows of each table where nobody asks for more or fewer.
const ROWS: usize = 15;

/// How many rows are shown; 0 is no limit.
fn most_rows(written: &str) -> Result<usize, std::num::ParseIntError> {
    written.parse().map(|n| if n == 0 { usize::MAX } else { n })
}
