//! `marey aggregate`: what the ranks of a job did together.

mod trace;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args as _, FromArgMatches as _, ValueEnum};
use marey::Launch;
use marey_analysis::job::Ranks;
use marey_analysis::ranks::{JobAnswers, RanksAnswers, each_attempt, ranks};
use marey_folder::aggregation::{Inputs, Jobs, n_threads, summaries};
use marey_folder::run_folder::{Launches, replace_named};
use marey_folder::shown;
use marey_folder::thresholds::{Limit, thresholds};
use marey_report::{
    Document, FirstScreen, Places, Table, aggregation_document, aggregation_json,
    aggregation_summary, escape, html_ranks, ranks_tables,
};

use super::output::{self, Format, Found, Output};
use crate::console::Console;
use crate::exit::Exit;

/// Analyze a job of many ranks: stragglers, waiting, communication, skew
///
/// Reads captures of Marey, reports (`profiling_report.json`), traces of torch.profiler, dumps of NCCL's flight recorder
/// (`nccl_trace_rank_0`), which say who had not come to a call that hangs, and documents of summaries; in folders what is in them and
/// below. A capture stands for the reports and traces beside it. What is missing, damaged or cannot be read is named, and the rest is used:
/// the exit code is 0 when everything is there, 1 otherwise, 2 when nothing could be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats and the endings of --output that mean them:
  text        .txt                   the first screen; in a file, with --full and of several jobs all tables
  json        .json                  one document with all figures; a summary is shown besides
  markdown    .md                    tables for pull requests
  csv         .csv                   one table, that --table names; without it a folder, one file a table
  html        .html                  a page
  perfetto    .pftrace, .pftrace.gz  one trace of all captures, on one time axis, for https://ui.perfetto.dev
  summaries   .ranks.json            what is kept of each rank, some 5 to 70 kB, more with long names: `marey aggregate` reads and merges such files

An output `-` is standard output; the summary is on standard error then.",
    mut_arg("format", |arg| arg.value_parser(Format::parser("ranks.html in this folder", &OWN_FORMATS))))]
pub struct Arguments {
    /// Captures, reports, traces, dumps, summaries, or folders of them: a job's folder, the folder above it, folders of several nodes
    #[arg(value_name = "PATH", required_unless_present = "reports_dir")]
    paths: Vec<PathBuf>,
    /// The same as a PATH
    #[arg(long = "reports_dir", alias = "reports-dir", value_name = "DIR")]
    reports_dir: Option<PathBuf>,
    #[command(flatten)]
    output: output::Arguments,
    /// Of a folder with several jobs this one; `all` takes all of them, each attempt of a run by itself. By itself the newest
    #[arg(long, value_name = "NAME")]
    job: Option<String>,
    /// Rows of each table of text and Markdown; 0 for all. By itself 15, of one --table all
    #[arg(long, value_name = "N", value_parser = super::most_rows)]
    rows: Option<usize>,
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

/// Dumps that are named where they are left out.
const MOST_NAMED: usize = 5;

/// Formats that no other command has.
const OWN_FORMATS: [Format; 2] = [Format::Summaries, Format::Perfetto];

/// What came of a command line of those who read the files themselves.
#[derive(Debug)]
pub struct Concluded {
    /// How the command ends.
    pub exit: Exit,
    /// What it shows.
    pub out: String,
    /// What it says besides.
    pub err: String,
    /// The document of `--format json`; `None` when nothing could be read.
    pub json: Option<Vec<u8>>,
}

impl Arguments {
    /// Of the words behind `aggregate`: for engines that read the files elsewhere, and for Python.
    ///
    /// # Errors
    /// When they are wrong: why, in a line. Help comes this way, too.
    pub fn of(words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let command =
            Self::augment_args(clap::Command::new("marey aggregate").no_binary_name(true));
        let found = command.try_get_matches_from(words);
        let read = found.and_then(|found| Self::from_arg_matches(&found));
        read.map_err(|refusal| reason(&refusal.render().to_string()))
    }

    /// Those of `marey analyze` with the same files.
    pub(super) fn of_files(
        paths: &[PathBuf],
        output: &output::Arguments,
        rows: Option<usize>,
        thresholds: &[Limit],
    ) -> Self {
        Self {
            paths: paths.to_vec(),
            reports_dir: None,
            output: output.clone(),
            job: None,
            rows,
            engine: Engine::Local,
            address: None,
            thresholds: thresholds.to_vec(),
        }
    }

    fn output(&self) -> anyhow::Result<Output<'_>> {
        self.output.output(&OWN_FORMATS, self.rows)
    }

    /// The files to read, none of which is the output.
    ///
    /// # Errors
    /// When there are none, or the output is one of them.
    pub fn inputs(&self) -> anyhow::Result<Inputs> {
        let output = self.output()?;
        let inputs = Inputs::of(&self.paths(), &self.jobs())?;
        output.keep(inputs.files.iter().map(|file| &*file.path))?;
        Ok(inputs)
    }

    fn jobs(&self) -> Jobs {
        self.job.as_deref().map_or(Jobs::Newest, Jobs::named)
    }

    /// Writes what was found in the files; with `only_summary` it shows the summary alone, and writes nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn conclude(
        &self,
        inputs: Inputs,
        found: Ranks,
        only_summary: bool,
    ) -> anyhow::Result<Concluded> {
        if self.is_binary_to_stdout() {
            bail!("a trace for standard output is no text: name a file");
        }
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console::new(&mut out, &mut err);
        let (exit, answers) = conclude(self, inputs, found, only_summary, &mut console)?;
        let [out, err] = [out, err].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Concluded { exit, out, err, json: answers.as_ref().map(aggregation_json) })
    }

    /// It writes bytes that are no text to standard output.
    fn is_binary_to_stdout(&self) -> bool {
        let output = self.output();
        output.is_ok_and(|output| output.is_stdout && output.format == Format::Perfetto)
    }

    /// The cluster that was asked for.
    pub fn address(&self) -> Option<&str> {
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
    arguments.output()?;
    if arguments.is_binary_to_stdout() && io::stdout().is_terminal() {
        bail!("a trace is not for a terminal: redirect standard output, or name a file");
    }
    let inputs = arguments.inputs()?;
    let found = summaries(&inputs.files, n_threads());
    let (exit, _) = conclude(arguments, inputs, found, false, console)?;
    Ok(exit)
}

/// What is wrong with arguments, without how the command is used.
fn reason(refusal: &str) -> String {
    let (first, _) = refusal.split_once("\n\n").unwrap_or((refusal, ""));
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Writes what was found, or shows the summary alone. Returns how the command ends, and the answers; `None` when nothing was read.
fn conclude(
    arguments: &Arguments,
    inputs: Inputs,
    mut found: Ranks,
    only_summary: bool,
    console: &mut Console<'_>,
) -> anyhow::Result<(Exit, Option<RanksAnswers>)> {
    let output = arguments.output()?;
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
    let older = answers.jobs.iter().flat_map(|job| &job.older_dumps);
    let named = older.clone().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match older.count().saturating_sub(MOST_NAMED) {
        _ if named.is_empty() => {}
        0 => console.say(&format!("left out for newer dumps of the same ranks: {named}")),
        more => console
            .say(&format!("left out for newer dumps of the same ranks: {named} and {more} more")),
    }
    if only_summary {
        console.show(&aggregation_summary(&answers))?;
    } else {
        Read { arguments, inputs, found, answers: &answers }.show(&output, console)?;
    }
    let is_whole = answers.unread.is_empty() && answers.jobs.iter().all(JobAnswers::is_whole);
    let exit = if is_whole { Exit::SUCCESS } else { Exit::FAILED };
    Ok((exit, Some(answers)))
}

/// What was read, and what it comes to.
struct Read<'a> {
    arguments: &'a Arguments,
    inputs: Inputs,
    found: Ranks,
    answers: &'a RanksAnswers,
}

impl Read<'_> {
    /// In a file the figures that a person looks at first are on standard output, and where the rest is on standard error.
    fn show(&self, output: &Output<'_>, console: &mut Console<'_>) -> anyhow::Result<()> {
        let named = |name: PathBuf| output.file.map_or(name, Path::to_owned);
        let written = if output.format == Format::Perfetto {
            trace::write(self, output, named("ranks.pftrace.gz".into()), console)?
        } else {
            let Some(bytes) = output.bytes(self, console)? else {
                return Ok(());
            };
            if output.file.is_none() && !output.is_unnamed_page() {
                console.show(&String::from_utf8_lossy(&bytes))?;
                None
            } else {
                Some(replace_named(named(self.page_name()), &bytes)?)
            }
        };
        if let Some(path) = written {
            console.show(&aggregation_summary(self.answers))?;
            console.say(&format!("the rest is in {}", shown(&path)));
        } else if output.is_stdout && output.format != Format::Text {
            console.say_as_it_is(&aggregation_summary(self.answers));
        }
        Ok(())
    }

    /// What is shown first of the only job; `None` of several.
    fn screen(&self) -> Option<FirstScreen> {
        let [job] = self.answers.jobs.as_slice() else {
            return None;
        };
        let paths = self.arguments.paths();
        let paths: Vec<String> = paths.iter().map(|path| shown(path)).collect();
        let full = escape::visible(&format!("marey aggregate {} --full", paths.join(" ")));
        let places = Places { full, ..Places::default() };
        Some(FirstScreen::of_job(job, places, self.launch().as_ref()))
    }

    /// What the launcher of all ranks saw; `None` where they lie in several folders, as those of several hosts do.
    fn launch(&self) -> Option<Launch> {
        let folders = self.inputs.files.iter().map(|file| file.path.parent());
        let folders: BTreeSet<Option<&Path>> = folders.collect();
        let [Some(folder)] = folders.into_iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        let launches = Launches::read(folder);
        Some(launches.of_job()?.launch.clone())
    }
}

impl Found for Read<'_> {
    /// All of it in a file, too.
    fn text(&self, output: &Output<'_>) -> String {
        let is_whole = output.asked.full || output.file.is_some() && !output.asked.brief;
        match self.screen().filter(|_| !is_whole) {
            Some(screen) => output.screen(&screen),
            None => output.whole(&self.document(output)),
        }
    }

    fn document(&self, output: &Output<'_>) -> Document {
        aggregation_document(self.answers, output.rows())
    }

    fn tables(&self) -> Vec<Table> {
        ranks_tables(self.answers)
    }

    fn json(&self, output: &Output<'_>) -> Vec<u8> {
        match self.screen().filter(|_| output.asked.brief) {
            _ if output.format == Format::Summaries => self.found.to_json(),
            Some(screen) => screen.json().into_bytes(),
            None => aggregation_json(self.answers),
        }
    }

    fn page(&self) -> anyhow::Result<Vec<u8>> {
        Ok(html_ranks(self.answers))
    }

    fn page_name(&self) -> PathBuf {
        "ranks.html".into()
    }
}
