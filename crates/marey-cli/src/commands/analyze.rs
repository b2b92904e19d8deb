//! `marey analyze`: what files of torch say.

mod inputs;
mod ranks;
mod read;
mod written;

use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;

use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen::Color;
use crate::output_format;
use crate::run_folder::Asked;
use crate::tables::TableFormat;
use crate::thresholds::{Limit, thresholds};

use read::Said;

/// Analyze traces of torch.profiler and memory snapshots
///
/// A trace of torch.profiler (`*.json`, `*.json.gz`), or of a tool that writes the same: how busy each device was and why it was not,
/// kernels, attention, transfers, communication, and what is the matter. A CUDA memory snapshot of torch (`*.pickle`): how much there was
/// when, what it was at its peak, and why memory ran out. Reading runs no code of the files.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Files, folders of them, a job's folder of Marey, or a capture: of those the traces and snapshots that its windows wrote
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The recording of the process that wrote the snapshots, a job's folder or a capture: what was allocated is then told by sections and
    /// steps, too
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// What to show; by itself what the ending of --output says, otherwise text
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write it to this file instead; csv without --table: into this folder, one file a table
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Rows of each table of text and Markdown; 0 for all. By itself 15, of one --table all
    #[arg(long, value_name = "N", value_parser = super::most_rows)]
    rows: Option<usize>,
    /// All tables as text, not only the first screen, and all tables and columns of Markdown; the other formats always have them
    #[arg(long = "details", visible_alias = "full")]
    full: bool,
    /// Show only the first screen of each file: as JSON a line of at most 4 KiB
    #[arg(long, conflicts_with_all = ["full", "table", "part"])]
    brief: bool,
    /// Colours of the first screen
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Only this table, such as `kernels`, with all its columns, as text, JSON, Markdown or CSV; `list` shows the names of all
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Only this denoising step, or call of the denoiser, from 0 on: what it launched, and what the host did in it
    #[arg(long, value_name = "N", group = "part")]
    step: Option<u64>,
    /// Only this `ProfilerStep`, by the number in its name
    #[arg(long, value_name = "N", group = "part")]
    profiler_step: Option<u64>,
    /// Only this phase, as the trace calls it or by what it does: `text encoder`, `denoising`, `vae`
    #[arg(long, value_name = "NAME", group = "part")]
    phase: Option<String>,
    /// A limit of findings, such as `gpu_utilization_ratio=0.8`; may be given several times. `docs/findings.md` has them all
    #[arg(long = "threshold", value_name = "NAME=VALUE")]
    thresholds: Vec<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The first screen of each file, or all tables, on standard output
    Text,
    /// One document with all figures, on standard output
    Json,
    /// Tables for pull requests and issues, on standard output
    Markdown,
    /// All rows of each table as a file
    Csv,
    /// A page, as a file: trace.html or snapshot.html in this folder unless --output names it
    Html,
}

impl Arguments {
    fn format(&self) -> Format {
        let said = || output_format::said_by(self.output.as_deref()?);
        self.format.or_else(said).unwrap_or(Format::Text)
    }

    /// A part of a trace is asked for, which has tables.
    fn is_of_part(&self) -> bool {
        self.step.is_some() || self.profiler_step.is_some() || self.phase.is_some()
    }

    fn asked(&self) -> Asked {
        let numbered = |kind: &str, number: Option<u64>| number.map(|n| format!("{kind} {n}"));
        let phase = self.phase.as_ref().map(|name| format!("phase {name}"));
        let profiler_step = numbered("profiler step", self.profiler_step);
        Asked {
            thresholds: thresholds(&self.thresholds),
            part: numbered("step", self.step).or(profiler_step).or(phase),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    if arguments.table.is_some() {
        TableFormat::of(&arguments.format(), None)?;
    }
    if arguments.brief && !matches!(arguments.format(), Format::Text | Format::Json) {
        bail!("--brief goes with --format text or json");
    }
    let inputs = inputs::of(&arguments.paths, arguments.run.as_deref())?;
    written::keep_inputs(arguments, &inputs)?;
    let asked = arguments.asked();
    let said = read::all(&inputs, &asked, n_threads());
    let n_unread = say_problems(&said, console);
    if n_unread == said.len() {
        return Ok(Exit::USAGE);
    }
    for remark in said.iter().filter_map(Said::remark) {
        console.say(remark);
    }
    let ranks = ranks::together(&said, &asked.thresholds);
    written::write(arguments, &inputs, &said, ranks.as_ref(), console)?;
    Ok(if n_unread == 0 { Exit::SUCCESS } else { Exit::FAILED })
}

/// As many as there are cores: each has one file in memory.
fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A line for each file that could not be read; how many there are.
fn say_problems(said: &[Said], console: &mut Console<'_>) -> usize {
    let problems: Vec<(&str, &str)> = said.iter().filter_map(Said::problem).collect();
    for (file, problem) in &problems {
        console.say(&format!("cannot read {file}: {problem}"));
    }
    problems.len()
}
