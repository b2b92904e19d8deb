//! What can be said on the command line: one file per command.

pub(crate) mod aggregate;
pub(crate) mod analyze;
pub(crate) mod compare;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod output;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod top;
pub(crate) mod view;
pub(crate) mod window;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use marey_folder::run_folder::{JobFolder, Process};
use marey_folder::shown;
use marey_report::escape;

use crate::console::Console;
use crate::exit::Exit;

/// Flight recorder for image and video generation: where the time and the memory of a pipeline went.
#[derive(Debug, Parser)]
#[command(name = "marey", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(after_help = "\
Start with:
  marey run -- python pipeline.py      record a pipeline and see a summary when it ends
  marey top                            see what it is doing meanwhile
  marey window PID                     have it record a few steps with torch's profiler
  marey report profiling_results       see the newest recording again
  marey view profiling_results         see its timeline in Perfetto's viewer
  marey compare BEFORE AFTER           see what changed from one to another
  marey aggregate DIR                  see which rank of a job is slow, and which wait
  marey analyze FILE                   see what a trace or a memory snapshot of torch holds
  marey explain RULE                   see what a rule of findings looks for, and its limits
  marey doctor                         see what can be measured on this machine")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Arguments),
    Report(report::Arguments),
    Compare(compare::Arguments),
    Export(export::Arguments),
    View(view::Arguments),
    Analyze(analyze::Arguments),
    Aggregate(aggregate::Arguments),
    Top(top::Arguments),
    Window(window::Arguments),
    Explain(explain::Arguments),
    Doctor(doctor::Arguments),
    Demo(demo::Arguments),
    Generate(generate::Arguments),
}

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
        Command::Window(arguments) => window::run(arguments, console),
        Command::Demo(arguments) => demo::run(arguments, console),
        Command::Generate(arguments) => generate::run(arguments, console),
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

/// How many rows are shown; 0 is no limit.
fn most_rows(written: &str) -> Result<usize, std::num::ParseIntError> {
    written.parse().map(|n| if n == 0 { usize::MAX } else { n })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        super::Arguments::command().debug_assert();
    }
}
