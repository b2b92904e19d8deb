//! `marey analyze`: what a file of another tool says.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use marey::Run;
use marey_report::{SnapshotFile, snapshot_json, snapshot_text};

use super::shown;
use crate::console::Console;
use crate::exit::Exit;
use crate::run_folder::{RecordedRuns, read_memory_snapshot, replace};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables, on standard output
    Text,
    /// One document, on standard output
    Json,
}

pub(crate) fn run(arguments: &Arguments, console: &mut Console<'_>) -> anyhow::Result<Exit> {
    let path = &arguments.file;
    match Content::of(path)? {
        Content::Pickle => {}
        Content::Other(what) => bail!(
            "{} is {what}; this reads memory snapshots of torch (pickles of protocol 2 to 5)",
            path.display()
        ),
    }
    let run = arguments.run.as_deref().map(recorded).transpose()?;
    let found = read_memory_snapshot(path, shown(path), run.as_ref())
        .with_context(|| format!("cannot read {}", path.display()))?;
    if let Some(run) = &run
        && !is_within(&found, run)
    {
        console.say(
            "nothing in the snapshot happened during the recording: is it of the same process?",
        );
    }
    let bytes = match arguments.format {
        Format::Text => snapshot_text(&found).into_bytes(),
        Format::Json => snapshot_json(&found),
    };
    if let Some(output) = &arguments.output {
        let path = replace(output.clone(), &bytes)?;
        console.show(&(marey_report::escape::visible(&shown(&path)) + "\n"))?;
    } else {
        console.show(&String::from_utf8_lossy(&bytes))?;
    }
    Ok(Exit::SUCCESS)
}

/// What a file is, by its first bytes.
enum Content {
    Pickle,
    Other(&'static str),
}

impl Content {
    fn of(path: &Path) -> anyhow::Result<Self> {
        let unreadable = || format!("cannot read {}", path.display());
        let mut file = File::open(path).with_context(unreadable)?;
        if file.metadata().is_ok_and(|file| file.is_dir()) {
            bail!("{} is a folder; name a file in it", path.display());
        }
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
            [0x1f, 0x8b, ..] => Self::Other("compressed (gzip)"),
            [b'{' | b'[', ..] => Self::Other("JSON"),
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

/// A device's history overlaps the run.
fn is_within(found: &SnapshotFile, run: &Run) -> bool {
    let (from, wall) = (run.info.start_unix_ns, run.wall_ns);
    let mut devices = found.answers.iter().flat_map(|answers| &answers.devices);
    devices.any(|device| {
        device.first_event_unix_us.is_some_and(|first_us| {
            let first = first_us.saturating_mul(1000);
            let last = first.saturating_add(device.recorded_ns.unwrap_or(0));
            first <= from.saturating_add(wall) && from <= last
        })
    })
}
