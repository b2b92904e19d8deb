//! One trace of all captures, on one time axis.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::bail;
use marey_analysis::job::Source;
use marey_analysis::ranks::{JobAnswers, call_parts};
use marey_report::{Compression, TraceFormat, TraceWriter, listed_ranks};

use super::read::Read;
use crate::console::Console;
use crate::run_folder::replace_with;

/// A capture, and when it begins on the common axis.
struct Placed<'a> {
    path: &'a Path,
    /// How its file is called.
    name: &'a str,
    start_ns: u64,
}

/// Writes the trace to a file; one run is in memory at a time. Returns its path.
pub(super) fn write(
    path: PathBuf,
    read: &Read<'_>,
    console: &mut Console<'_>,
) -> anyhow::Result<PathBuf> {
    let trace = Trace::of(read, console)?;
    let compression = match path.extension() {
        Some(end) if end == "gz" => Compression::Gzip,
        _ => Compression::None,
    };
    Ok(replace_with(path, |file| trace.write(file, compression))?)
}

/// The same to standard output, not compressed.
pub(super) fn write_to_stdout(read: &Read<'_>, console: &mut Console<'_>) -> anyhow::Result<()> {
    let trace = Trace::of(read, console)?;
    Ok(console.write_bytes(|out| trace.write(out, Compression::None))?)
}

/// What goes into the trace.
struct Trace<'a> {
    read: &'a Read<'a>,
    placed: Vec<Placed<'a>>,
    left_out: Vec<String>,
}

impl<'a> Trace<'a> {
    fn of(read: &'a Read<'_>, console: &mut Console<'_>) -> anyhow::Result<Self> {
        let (placed, left_out) = placed(read);
        if placed.is_empty() {
            bail!("a trace is made of captures, and none was read");
        }
        for remark in &left_out {
            console.say(remark);
        }
        Ok(Self { read, placed, left_out })
    }

    fn write(&self, to: &mut dyn Write, compression: Compression) -> io::Result<()> {
        let jobs = self.read.answers.jobs.iter();
        let base_unix_ns = jobs.filter_map(|job| job.clocks.start_unix_ns).min();
        let calls = call_parts(&self.read.found);
        let base = base_unix_ns.unwrap_or(0);
        let mut writer = TraceWriter::new(to, TraceFormat::Perfetto, compression, base)?;
        for capture in &self.placed {
            let run = marey::load(capture.path).map_err(io::Error::other)?;
            let calls = calls.get(capture.name).map_or(&[][..], Vec::as_slice);
            writer.add_at(&run, capture.start_ns, calls)?;
        }
        for remark in &self.left_out {
            writer.remark(remark)?;
        }
        writer.finish()?.flush()
    }
}

/// Captures of all jobs by rank, and what to say of ranks without one. Each job's axis begins at its own start; that of the earliest job
/// is the trace's.
fn placed<'a>(read: &'a Read<'_>) -> (Vec<Placed<'a>>, Vec<String>) {
    let jobs = || read.answers.jobs.iter();
    let first = jobs().filter_map(|job| job.clocks.start_unix_ns).min();
    let (mut placed, mut remarks) = (Vec::new(), Vec::new());
    for job in jobs() {
        let start = job.clocks.start_unix_ns.zip(first);
        let offset_ns = start.map_or(0, |(start, first)| start.saturating_sub(first));
        let mut left_out = Vec::new();
        for (place, member) in (0_u32..).zip(&job.members) {
            // Of a rank whose summary was read, the capture lies somewhere else.
            let path = read.inputs.path(&member.file);
            let Some(path) = path.filter(|_| member.source == Source::Capture) else {
                left_out.push(place);
                continue;
            };
            let clock = job.clocks.each.get(place as usize);
            let start_ns = clock.and_then(|clock| clock.start_ns).unwrap_or(0);
            placed.push(Placed {
                path,
                name: &member.file,
                start_ns: start_ns.saturating_add(offset_ns),
            });
        }
        remarks.extend(remark(job, &left_out));
    }
    (placed, remarks)
}

/// Which ranks are not in the trace; `None` when all are.
fn remark(job: &JobAnswers, left_out: &[u32]) -> Option<String> {
    let (_, more) = left_out.split_first()?;
    let is_rank = |place: &u32| {
        let member = job.members.get(*place as usize);
        member.is_some_and(|member| member.rank.is_some())
    };
    let what = match (left_out.iter().all(is_rank), more.is_empty()) {
        (true, true) => "rank ",
        (true, false) => "ranks ",
        (false, _) => "",
    };
    let (have, are) = if more.is_empty() { ("has", "is") } else { ("have", "are") };
    let of_job = match job.job_id.as_str() {
        "" => String::new(),
        id => format!(" of {id}"),
    };
    let ranks = listed_ranks(&job.members, left_out);
    Some(format!("{what}{ranks}{of_job} {have} no capture and {are} not in the trace"))
}
