//! `marey export`: a recording as a trace for the viewers that people have, or as tables for query engines.

#[cfg(feature = "parquet")]
mod dataset;
mod target;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use marey::Run;
use marey_report::{Compression, TraceFormat, TraceWriter, escape};

use crate::console::Console;
use crate::exit::Exit;
use crate::run_folder::replace_with;
use crate::shown_path::shown;
pub(super) use target::{Capture, Empty, Target};

/// Write a recording as a trace for a viewer, or as tables for query engines
///
/// All processes of a job go into one trace, each where it ran on one time axis; TensorBoard wants a file for each. Tables are a
/// folder of Parquet files.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where to open it:
  perfetto      https://ui.perfetto.dev, or `marey view RUN`: everything, with arrows from sections to their work on the GPU
  chrome        chrome://tracing, Perfetto, speedscope, HolisticTraceAnalysis and whatever reads the traces of torch.profiler
  tensorboard   tensorboard --logdir FOLDER, with its torch plugin (torch-tb-profiler)
  parquet       DuckDB, DataFusion, Spark, Polars, pandas: docs/queries has questions in SQL")]
pub(crate) struct Arguments {
    /// A job's folder, the folder above it (its newest job is taken), or one capture file
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The format
    #[arg(long, value_enum, default_value_t = Format::Perfetto)]
    format: Format,
    /// Write it to this file; compressed if its name ends with .gz. `-` is standard output, not compressed. Of tables: the folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only processes of this rank
    #[arg(long, value_name = "N")]
    rank: Option<u32>,
}

/// Formats by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Perfetto's own: trace.pftrace.gz
    Perfetto,
    /// Chrome JSON in the way of torch.profiler: trace.json.gz
    Chrome,
    /// Chrome JSON for TensorBoard's torch plugin: NAME.MS.pt.trace.json.gz, a file a process
    Tensorboard,
    /// Tables in Apache Parquet: the folder `parquet`, with a folder for each kind of table and rank in it
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// `None` for what is no trace.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(clippy::unnecessary_wraps, reason = "without tables all are traces")
    )]
    fn of_traces(self) -> Option<TraceFormat> {
        match self {
            Self::Perfetto => Some(TraceFormat::Perfetto),
            Self::Chrome => Some(TraceFormat::Chrome),
            Self::Tensorboard => Some(TraceFormat::TensorBoard),
            #[cfg(feature = "parquet")]
            Self::Parquet => None,
        }
    }

    /// The name of what nobody named.
    fn name(self) -> &'static str {
        match self {
            Self::Perfetto => "trace.pftrace.gz",
            Self::Chrome | Self::Tensorboard => "trace.json.gz",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
        }
    }
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> Result<Exit> {
    let output = arguments.output.as_deref();
    let is_to_stdout = output == Some(Path::new("-"));
    #[cfg(feature = "parquet")]
    if arguments.format == Format::Parquet {
        return dataset::export(arguments, console);
    }
    if is_to_stdout && io::stdout().is_terminal() {
        bail!("a trace is not for a terminal: redirect standard output, or name a file");
    }
    let target = Target::find(&arguments.run, arguments.rank, Empty::LeftOut, console)?;
    if arguments.format == Format::Tensorboard && !is_to_stdout && output.is_none() {
        return for_tensorboard(&target, console);
    }
    if arguments.format == Format::Tensorboard && target.captures.len() > 1 {
        bail!(
            "TensorBoard wants a file for each of the {} processes: leave --output out, or choose one with --rank or by its capture",
            target.captures.len()
        );
    }
    if is_to_stdout {
        console
            .write_bytes(|out| write(out, arguments.format, Compression::None, &target.captures))?;
        return Ok(target.exit());
    }
    let path = match output {
        Some(path) => path.to_owned(),
        None => target.beside(arguments.format.name()),
    };
    write_file(path, arguments.format, &target.captures, console)?;
    Ok(target.exit())
}

/// A file for each process, with the name that the plugin looks for: `WORKER.MILLISECONDS.pt.trace.json.gz`.
fn for_tensorboard(target: &Target, console: &mut Console<'_>) -> Result<Exit> {
    for capture in &target.captures {
        let stem = capture.path.file_stem().unwrap_or_default();
        // A point would end the worker's name.
        let worker = stem.to_string_lossy().replace('.', "_");
        let name = format!("{worker}.{}.pt.trace.json.gz", capture.start_unix_ns / 1_000_000);
        let path = capture.path.with_file_name(name);
        write_file(path, Format::Tensorboard, std::slice::from_ref(capture), console)?;
    }
    Ok(target.exit())
}

fn write_file(
    path: PathBuf,
    format: Format,
    captures: &[Capture],
    console: &mut Console<'_>,
) -> Result<()> {
    let compression = match path.extension() {
        Some(end) if end == "gz" => Compression::Gzip,
        _ => Compression::None,
    };
    let path = replace_with(path, |file| write(file, format, compression, captures))?;
    console.show(&(escape::visible(&shown(&path)) + "\n"))?;
    Ok(())
}

/// A trace in a file without a name, which goes with the process.
pub(super) fn into_nameless_file(format: Format, captures: &[Capture]) -> Result<File> {
    let mut file = tempfile::tempfile().context("no room for the trace")?;
    write(&mut file, format, Compression::Gzip, captures).context("no room for the trace")?;
    Ok(file)
}

/// Writes a trace; only one run is in memory at a time.
fn write(
    out: &mut dyn Write,
    format: Format,
    compression: Compression,
    captures: &[Capture],
) -> io::Result<()> {
    let starts = captures.iter().map(|capture| capture.start_unix_ns);
    let base_unix_ns = starts.min().unwrap_or(0);
    let format = format.of_traces().ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    let mut writer = TraceWriter::new(out, format, compression, base_unix_ns)?;
    for capture in captures {
        let run: Run = marey::load(&capture.path).map_err(io::Error::other)?;
        writer.add(&run)?;
    }
    writer.finish()?.flush()
}
