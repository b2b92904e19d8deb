//! `marey aggregate`: what the ranks of a job did together.

mod read;
mod trace;
mod written;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;
use marey_analysis::job::Ranks;
use marey_analysis::ranks::{JobAnswers, MemberState, RanksAnswers, each_attempt, ranks};
use marey_report::aggregation_summary;

use crate::aggregation::{Inputs, Jobs, n_threads, summaries};
use crate::console::Console;
use crate::exit::Exit;
use crate::first_screen::Color;
use crate::output_format;
use crate::thresholds::{Limit, thresholds};

/// Analyze a job of many ranks: stragglers, waiting, communication, skew
///
/// Reads captures of Marey, reports (`profiling_report.json`), traces of torch.profiler and documents of summaries; in folders what is
/// in them and below. A capture stands for the reports and traces beside it. What is missing, damaged or cannot be read is named, and the
/// rest is used: the exit code is 0 when everything is there, 1 otherwise, 2 when nothing could be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats and the endings of --output that mean them:
  text        .txt                   the first screen; in a file, with --full and of several jobs all tables
  json        .json                  one document with all figures; a summary is shown besides
  markdown    .md                    tables for pull requests
  csv         .csv                   one table, that --table names; without it a folder, one file a table
  html        .html                  a page
  perfetto    .pftrace, .pftrace.gz  one trace of all captures, on one time axis, for https://ui.perfetto.dev
  summaries   .ranks.json            what is kept of each rank, some 5 to 70 kB, more with long names: `marey aggregate` reads and merges such files")]
pub(crate) struct Arguments {
    /// Captures, reports, traces, summaries, or folders of them: a job's folder, the folder above it, folders of several nodes
    #[arg(value_name = "PATH", required_unless_present = "reports_dir")]
    paths: Vec<PathBuf>,
    /// The same as a PATH
    #[arg(long = "reports_dir", alias = "reports-dir", value_name = "DIR")]
    reports_dir: Option<PathBuf>,
    /// Write it to this file. `-` is standard output; the summary is on standard error then
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to write; by itself what the ending of --output says, otherwise text
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Of a folder with several jobs this one; `all` takes all of them, each attempt of a run by itself. By itself the newest
    #[arg(long, value_name = "NAME")]
    job: Option<String>,
    /// Rows of each table of text and Markdown; 0 for all. By itself 15, of one --table all
    #[arg(long, value_name = "N", value_parser = super::most_rows)]
    rows: Option<usize>,
    /// Show everything as text, not only the first screen
    #[arg(long, visible_alias = "details")]
    full: bool,
    /// Show only the first screen: as JSON a line of at most 4 KiB
    #[arg(long, conflicts_with_all = ["full", "table"])]
    brief: bool,
    /// Colours of the first screen
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
    /// Only this table, such as `ranks`, as text, JSON, Markdown or CSV; `list` shows the names of all
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Who reads the files
    #[arg(long, value_enum, default_value_t = Engine::Local)]
    engine: Engine,
    /// Of --engine ray the cluster: `auto`, `HOST:PORT` or `ray://HOST:PORT`. By itself `RAY_ADDRESS`, otherwise one is started here
    #[arg(long, value_name = "ADDRESS")]
    address: Option<String>,
    /// A limit of findings, such as `gpu_utilization_ratio=0.8`; may be given several times. `docs/findings.md` has them all
    #[arg(long = "threshold", value_name = "NAME=VALUE")]
    thresholds: Vec<Limit>,
}

/// Who reads the files, by their names on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// The threads of this process
    #[default]
    Local,
    /// Tasks of a Ray cluster, which see the files at the same paths; needs `pip install 'marey[ray]'`
    Ray,
}

/// Formats by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables
    Text,
    /// One document with all figures
    Json,
    /// Tables for pull requests and issues
    Markdown,
    /// A page, as a file: ranks.html in this folder unless --output names it
    Html,
    /// All rows of each table as a file, or of one --table
    Csv,
    /// What is kept of each rank
    Summaries,
    /// One trace of all captures, as a file: ranks.pftrace.gz unless --output names it
    Perfetto,
}

impl Arguments {
    fn format(&self) -> anyhow::Result<Format> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let Some(output) = self.file() else {
            return Ok(Format::Text);
        };
        match output_format::said_by(output) {
            Some(format) => Ok(format),
            None => bail!("the ending of {} says no format; --format does", output.display()),
        }
    }

    /// The files to read, none of which is the output.
    pub(crate) fn inputs(&self) -> anyhow::Result<Inputs> {
        self.format()?;
        let inputs = Inputs::of(&self.paths(), &self.jobs())?;
        keep_inputs(self.file(), &inputs)?;
        Ok(inputs)
    }

    fn jobs(&self) -> Jobs {
        self.job.as_deref().map_or(Jobs::Newest, Jobs::named)
    }

    fn is_to_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    /// The file to write; `None` when none is named.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|_| !self.is_to_stdout())
    }

    /// It writes bytes that are no text to standard output.
    pub(crate) fn is_binary_to_stdout(&self) -> bool {
        self.is_to_stdout() && self.format == Some(Format::Perfetto)
    }

    pub(crate) fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.paths.iter().chain(&self.reports_dir).cloned().collect()
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    if arguments.engine == Engine::Ray {
        bail!(
            "--engine ray needs Python with Ray: pip install 'marey[ray]', then `python -m marey aggregate … --engine ray`"
        );
    }
    if arguments.address.is_some() {
        bail!("--address is that of a Ray cluster: it needs --engine ray");
    }
    if arguments.brief && !matches!(arguments.format()?, Format::Text | Format::Json) {
        bail!("--brief goes with --format text or json");
    }
    if arguments.is_binary_to_stdout() && io::stdout().is_terminal() {
        bail!("a trace is not for a terminal: redirect standard output, or name a file");
    }
    let inputs = arguments.inputs()?;
    let found = summaries(&inputs.files, n_threads());
    let (exit, _) = conclude(arguments, inputs, found, false, console)?;
    Ok(exit)
}

/// Writes what was found, or shows the summary alone. Returns how the command ends, and the answers; `None` when nothing was read.
pub(crate) fn conclude(
    arguments: &Arguments,
    inputs: Inputs,
    mut found: Ranks,
    only_summary: bool,
    console: &mut Console<'_>,
) -> anyhow::Result<(Exit, Option<RanksAnswers>)> {
    let format = arguments.format()?;
    for remark in &inputs.remarks {
        console.say(remark);
    }
    for path in &inputs.unread {
        found.add_unread(path.clone());
    }
    for file in found.unread() {
        // Of paths that name nothing the reason names the path.
        if file.why.contains(&file.file) {
            console.say(&file.why);
        } else {
            console.say(&format!("cannot read {}: {}", file.file, file.why));
        }
    }
    if found.summaries().len() == 0 {
        return Ok((Exit::USAGE, None));
    }
    let limits = thresholds(&arguments.thresholds);
    let answers = match arguments.jobs() {
        Jobs::All => each_attempt(&found, &limits),
        _ => ranks(&found, &limits),
    };
    if only_summary {
        console.show(&aggregation_summary(&answers))?;
    } else {
        let read = read::Read { inputs, found, answers: &answers };
        written::write(arguments, format, &read, console)?;
    }
    let exit = if is_whole(&answers) { Exit::SUCCESS } else { Exit::FAILED };
    Ok((exit, Some(answers)))
}

/// Nothing is missing, and nothing was cut short.
fn is_whole(answers: &RanksAnswers) -> bool {
    let is_whole = |job: &JobAnswers| {
        let mut states = job.members.iter().map(|member| member.state);
        job.missing.is_empty()
            && job.unread.is_empty()
            && states.all(|state| matches!(state, MemberState::Whole | MemberState::Running))
    };
    answers.unread.is_empty() && answers.jobs.iter().all(is_whole)
}

/// Refuses to write over what is about to be read.
fn keep_inputs(output: Option<&Path>, inputs: &Inputs) -> anyhow::Result<()> {
    let Some(place) = output.and_then(|output| output.canonicalize().ok()) else {
        return Ok(());
    };
    let mut files = inputs.files.iter();
    if files.any(|file| file.path.canonicalize().is_ok_and(|path| path == place)) {
        bail!("{} is one of the files to read; name another one for --output", place.display());
    }
    Ok(())
}
