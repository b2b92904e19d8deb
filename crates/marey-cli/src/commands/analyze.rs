//! `marey analyze`: what a file of another tool says.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use marey::Run;
use marey_report::{snapshot_json, snapshot_text, trace_json, trace_text};

use super::shown;
use crate::console::Console;
use crate::exit::Exit;
use crate::run_folder::{RecordedRuns, read_memory_snapshot, read_trace, replace, trace_page};

/// Say what a file of another tool holds
///
/// A CUDA memory snapshot of torch (`*.pickle`, written by `torch.cuda.memory._dump_snapshot` or by Marey's memory history): how much there
/// was when, what it was at its peak, fragmentation, growth between steps, and why memory ran out. Reading runs no code of the file.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The recording of the same process, a job's folder or a capture: what was allocated is then told by sections and steps, too
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// What to show
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write it to this file instead
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Rows of each table on a terminal.
const MAX_ROWS: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables, on standard output
    Text,
    /// One document, on standard output
    Json,
    /// A page, as a file: trace.html in this folder unless --output names it; of traces only
    Html,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    match Content::of(path)? {
        Content::Pickle => snapshot(arguments, console),
        Content::Trace => trace(arguments, console),
        Content::Other(what) => bail!(
            "{} is {what}; this reads memory snapshots of torch (pickles of protocol 2 to 5)",
            path.display()
        ),
    }
}

/// Shows what a trace says.
fn trace(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    if arguments.format == Format::Html {
        let page = trace_page(path, shown(path))
            .with_context(|| format!("cannot read {}", path.display()))?;
        let output = arguments.output.as_deref();
        let output = output.unwrap_or_else(|| Path::new("trace.html"));
        let written = replace(output.to_owned(), &page)?;
        console.show(&(marey_report::escape::visible(&shown(&written)) + "\n"))?;
        return Ok(Exit::SUCCESS);
    }
    let file =
        read_trace(path, shown(path)).with_context(|| format!("cannot read {}", path.display()))?;
    let bytes = match arguments.format {
        Format::Text => trace_text(&file, MAX_ROWS).into_bytes(),
        Format::Json | Format::Html => trace_json(&[file]),
    };
    write(arguments, &bytes, console)
}

/// Shows what a memory snapshot says.
fn snapshot(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    if arguments.format == Format::Html {
        bail!("a memory snapshot has no page of its own; that of a run shows those beside it");
    }
    let run = arguments.run.as_deref().map(recorded).transpose()?;
    let found = read_memory_snapshot(path, shown(path), run.as_ref())
        .with_context(|| format!("cannot read {}", path.display()))?;
    let is_outside = found.answers.as_ref().and_then(|a| a.is_outside_of_run);
    match (&run, is_outside) {
        (None, _) | (_, Some(false)) => {}
        (_, Some(true)) => console.say(
            "nothing in the snapshot happened during the recording: is it of the same process?",
        ),
        (_, None) => console.say(
            "when anything in the snapshot happened is not known: --run tells nothing about it",
        ),
    }
    let bytes = match arguments.format {
        Format::Text => snapshot_text(&found).into_bytes(),
        Format::Json | Format::Html => snapshot_json(&found),
    };
    write(arguments, &bytes, console)
}

/// Where it was asked for.
fn write(arguments: &Arguments, bytes: &[u8], console: &mut Console<'_>) -> anyhow::Result<Exit> {
    if let Some(output) = &arguments.output {
        let path = replace(output.clone(), bytes)?;
        console.show(&(marey_report::escape::visible(&shown(&path)) + "\n"))?;
    } else {
        console.show(&String::from_utf8_lossy(bytes))?;
    }
    Ok(Exit::SUCCESS)
}

/// What a file is, by its first bytes.
enum Content {
    Pickle,
    /// JSON, compressed or not.
    Trace,
    Other(&'static str),
}

impl Content {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let unreadable = || format!("cannot read {}", path.display());
        // Before it is opened: opening a pipe waits until somebody writes into it.
        let kind = std::fs::metadata(path).with_context(unreadable)?;
        if kind.is_dir() {
            bail!("{} is a folder; name a file in it", path.display());
        }
        if !kind.is_file() {
            bail!(
                "{} is no regular file but a pipe, a socket or a device; write what comes from there into a file first",
                path.display()
            );
        }
        let mut file = File::open(path).with_context(unreadable)?;
        let mut first = Vec::new();
        file.by_ref()
            .take(8)
            .read_to_end(&mut first)
            .with_context(unreadable)?;
        Ok(match first.as_slice() {
            [] => Self::Other("empty"),
            [0x80, 2..=5, ..] => Self::Pickle,
            [b'M', b'A', b'R', b'E', b'Y', ..] => {
                Self::Other("a capture, which `marey report` shows")
            }
            [b'P', b'K', 3, 4, ..] => Self::Other("a zip archive, such as torch.save writes"),
            [0x1f, 0x8b, ..] | [b'{' | b'[' | b' ' | b'\n' | b'\r' | b'\t', ..] => Self::Trace,
            _ => Self::Other("no kind of file that is known here"),
        })
    }
}

/// The first run of a path.
fn recorded(path: &Path) -> anyhow::Result<Run> {
    let runs = RecordedRuns::at(path).with_context(|| format!("cannot read {}", path.display()))?;
    let first = runs.runs.into_iter().next();
    let Some(first) = first else {
        bail!("{} holds no capture that can be read", path.display());
    };
    Ok(first.run)
}
