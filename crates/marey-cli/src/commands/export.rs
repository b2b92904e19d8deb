//! `marey export`: a recording as a trace for the viewers that people have, or as tables for query engines.

#[cfg(feature = "parquet")]
mod dataset;
mod target;
mod torch_traces;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use marey_analysis::ranks::CallParts;
use marey_folder::run_folder::replace_with;
use marey_report::{Compression, TraceFormat, TraceWriter};

use super::show_paths;
use crate::console::Console;
use crate::exit::Exit;
pub(super) use target::Target;
pub(super) use torch_traces::TorchTraces;

/// Write a recording as a trace for a viewer, or as tables for query engines
///
/// All processes of a job go into one trace, each where it ran on one time axis; TensorBoard wants a file for each. Tables are a
/// folder of Parquet files. Traces of torch.profiler of the ranks of a job become one trace in Chrome JSON.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where to open it:
  perfetto      https://ui.perfetto.dev, or `marey view RUN`: everything, with arrows from sections to their work on the GPU
  chrome        chrome://tracing, Perfetto, speedscope, HolisticTraceAnalysis and whatever reads the traces of torch.profiler
  tensorboard   tensorboard --logdir FOLDER, with its torch plugin (torch-tb-profiler)
  parquet       DuckDB, DataFusion, Spark, Polars, pandas: docs/queries has questions in SQL")]
pub(crate) struct Arguments {
    /// A job's folder, the folder above it (its newest job is taken), or one capture file; or traces of torch.profiler, or a folder of them
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// The format; of traces of torch.profiler always chrome
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
    /// How a trace is written; tables are none.
    fn of_trace(self) -> TraceFormat {
        match self {
            Self::Perfetto => TraceFormat::Perfetto,
            Self::Tensorboard => TraceFormat::TensorBoard,
            _ => TraceFormat::Chrome,
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
    let is_one_trace = matches!(arguments.format, Format::Perfetto | Format::Chrome);
    if !is_one_trace && TorchTraces::are_meant(&arguments.runs) {
        bail!(
            "traces of torch.profiler become one trace in Chrome JSON and nothing else: leave --format out (TensorBoard reads each of them as it is)"
        );
    }
    #[cfg(feature = "parquet")]
    if arguments.format == Format::Parquet {
        return dataset::export(arguments, console);
    }
    if is_to_stdout && io::stdout().is_terminal() {
        bail!("a trace is not for a terminal: redirect standard output, or name a file");
    }
    if is_one_trace
        && let Some(traces) = TorchTraces::find(&arguments.runs, arguments.rank, console)?
    {
        if is_to_stdout {
            console.write_bytes(|out| traces.write(out, Compression::None))?;
        } else {
            let path = output.map_or_else(|| "ranks.trace.json.gz".into(), Path::to_owned);
            traces.keep(&path)?;
            let compression = compression_of(&path);
            let written = replace_with(path, |file| traces.write(file, compression))?;
            show_paths(&[written], console)?;
        }
        return Ok(traces.exit);
    }
    let target = Target::find(only(&arguments.runs)?, arguments.rank, false, console)?;
    if arguments.format == Format::Tensorboard && !is_to_stdout && output.is_none() {
        return for_tensorboard(&target, console);
    }
    if arguments.format == Format::Tensorboard && target.captures.len() > 1 {
        bail!(
            "TensorBoard wants a file for each of the {} processes: leave --output out, or choose one with --rank or by its capture",
            target.captures.len()
        );
    }
    let trace = Trace::of(arguments.format.of_trace(), &target.captures);
    if is_to_stdout {
        console.write_bytes(|out| trace.write(out, Compression::None))?;
        return Ok(target.exit());
    }
    let path = output.map_or_else(|| target.beside(arguments.format.name()), Path::to_owned);
    show_paths(&[trace.write_file(path)?], console)?;
    Ok(target.exit())
}

/// The only recording.
pub(super) fn only(runs: &[PathBuf]) -> Result<&Path> {
    match runs {
        [run] => Ok(run),
        _ => bail!("only traces of torch.profiler go together into one trace: name one recording"),
    }
}

/// Compressed if the file's name says so.
fn compression_of(path: &Path) -> Compression {
    match path.extension() {
        Some(end) if end == "gz" => Compression::Gzip,
        _ => Compression::None,
    }
}

/// A file for each process, with the name that the plugin looks for: `WORKER.MILLISECONDS.pt.trace.json.gz`.
fn for_tensorboard(target: &Target, console: &mut Console<'_>) -> Result<Exit> {
    for capture in &target.captures {
        let stem = capture.path.file_stem().unwrap_or_default();
        // A point would end the worker's name.
        let worker = stem.to_string_lossy().replace('.', "_");
        let name = format!("{worker}.{}.pt.trace.json.gz", capture.start_unix_ns / 1_000_000);
        let path = capture.path.with_file_name(name);
        let trace = Trace::of(TraceFormat::TensorBoard, std::slice::from_ref(capture));
        show_paths(&[trace.write_file(path)?], console)?;
    }
    Ok(target.exit())
}

/// Captures in one trace.
pub(super) struct Trace<'a> {
    pub(super) format: TraceFormat,
    /// When it begins, nanoseconds since 1970.
    pub(super) base_unix_ns: u64,
    pub(super) captures: &'a [Capture<'a>],
    /// What whoever opens it should know, where the format has a place for it.
    pub(super) remarks: &'a [String],
}

/// A capture that can be read, and where it stands in a trace.
#[derive(Debug)]
pub(super) struct Capture<'a> {
    pub(super) path: PathBuf,
    pub(super) start_unix_ns: u64,
    /// The parts of its calls of collectives.
    pub(super) calls: &'a [CallParts],
}

impl<'a> Trace<'a> {
    /// Of captures that were recorded by one clock.
    pub(super) fn of(format: TraceFormat, captures: &'a [Capture<'a>]) -> Self {
        let starts = captures.iter().map(|capture| capture.start_unix_ns);
        Self { format, base_unix_ns: starts.min().unwrap_or(0), captures, remarks: &[] }
    }

    /// Writes it; only one run is in memory at a time.
    pub(super) fn write(&self, out: &mut dyn Write, compression: Compression) -> io::Result<()> {
        let mut writer = TraceWriter::new(out, self.format, compression, self.base_unix_ns)?;
        for capture in self.captures {
            let run = marey::load(&capture.path).map_err(io::Error::other)?;
            let offset_ns = capture.start_unix_ns.saturating_sub(self.base_unix_ns);
            writer.add_at(&run, offset_ns, capture.calls)?;
        }
        for remark in self.remarks {
            writer.remark(remark)?;
        }
        writer.finish()?.flush()
    }

    /// The same into a file, compressed if its name says so. Returns its path.
    pub(super) fn write_file(&self, path: PathBuf) -> Result<PathBuf> {
        let compression = compression_of(&path);
        Ok(replace_with(path, |file| self.write(file, compression))?)
    }
}
