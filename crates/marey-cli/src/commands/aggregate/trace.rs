//! One trace of all captures, on one time axis.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::bail;
use marey_analysis::job::Source;
use marey_report::{Compression, TraceFormat, TraceWriter};

use super::written::Read;
use crate::console::Console;
use crate::run_folder::replace_with;

/// A capture, and when it begins on the common axis.
struct Placed<'a> {
    path: &'a Path,
    start_ns: u64,
}

/// Writes the trace; one run is in memory at a time. Returns its path.
pub(super) fn write(
    path: PathBuf,
    read: &Read<'_>,
    console: &mut Console<'_>,
) -> anyhow::Result<PathBuf> {
    let placed = placed(read, console);
    if placed.is_empty() {
        bail!("a trace is made of captures, and none was read");
    }
    let compression = match path.extension() {
        Some(end) if end == "gz" => Compression::Gzip,
        _ => Compression::None,
    };
    let base_unix_ns = read
        .answers
        .jobs
        .iter()
        .filter_map(|job| job.clocks.start_unix_ns)
        .min();
    let written = replace_with(path, |file| {
        let base = base_unix_ns.unwrap_or(0);
        let mut writer = TraceWriter::new(file, TraceFormat::Perfetto, compression, base)?;
        for capture in &placed {
            let run = marey::load(capture.path).map_err(io::Error::other)?;
            writer.add_at(&run, capture.start_ns)?;
        }
        writer.finish()?.flush()
    });
    Ok(written?)
}

/// Captures of all jobs by rank. Each job's axis begins at its own start; that of the earliest job is the trace's.
fn placed<'a>(read: &'a Read<'_>, console: &mut Console<'_>) -> Vec<Placed<'a>> {
    let jobs = || read.answers.jobs.iter();
    let first = jobs().filter_map(|job| job.clocks.start_unix_ns).min();
    let mut placed = Vec::new();
    for job in jobs() {
        let start = job.clocks.start_unix_ns.zip(first);
        let offset_ns = start.map_or(0, |(start, first)| start.saturating_sub(first));
        for (index, member) in job.members.iter().enumerate() {
            if member.source != Source::Capture {
                console.say(&format!(
                    "{} is no capture: it is not in the trace",
                    member.file
                ));
                continue;
            }
            let clock = job.clocks.each.get(index);
            let start_ns = clock.and_then(|clock| clock.start_ns).unwrap_or(0);
            placed.extend(read.inputs.path(&member.file).map(|path| Placed {
                path,
                start_ns: start_ns.saturating_add(offset_ns),
            }));
        }
    }
    placed
}
