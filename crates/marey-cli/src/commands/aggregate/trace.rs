//! One trace of all captures, on one time axis.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::bail;
use marey_analysis::job::Source;
use marey_analysis::ranks::{CallParts, JobAnswers, call_parts};
use marey_report::{Compression, TraceFormat, listed_ranks};

use super::super::export::{Capture, Trace};
use super::{Output, Read};
use crate::console::Console;

/// Writes the trace to standard output, not compressed, or to a file; one run is in memory at a time. Returns the file's path.
pub(super) fn write(
    read: &Read<'_>,
    output: &Output<'_>,
    path: PathBuf,
    console: &mut Console<'_>,
) -> anyhow::Result<Option<PathBuf>> {
    let calls = call_parts(&read.found);
    let starts = read.answers.jobs.iter().filter_map(|job| job.clocks.start_unix_ns);
    let base_unix_ns = starts.min().unwrap_or(0);
    let (captures, remarks) = placed(read, base_unix_ns, &calls);
    if captures.is_empty() {
        bail!("a trace is made of captures, and none was read");
    }
    let (captures, remarks) = (&captures, &remarks);
    let trace = Trace { format: TraceFormat::Perfetto, base_unix_ns, captures, remarks };
    for remark in remarks {
        console.say(remark);
    }
    if output.is_stdout {
        console.write_bytes(|out| trace.write(out, Compression::None))?;
        return Ok(None);
    }
    trace.write_file(path).map(Some)
}

/// Captures of all jobs by rank, and what to say of ranks without one. Each job's axis begins at its own start; that of the earliest job
/// is the trace's.
fn placed<'a>(
    read: &Read<'_>,
    base_unix_ns: u64,
    calls: &'a BTreeMap<String, Vec<CallParts>>,
) -> (Vec<Capture<'a>>, Vec<String>) {
    let (mut captures, mut remarks) = (Vec::new(), Vec::new());
    for job in &read.answers.jobs {
        let began = job.clocks.start_unix_ns.unwrap_or(base_unix_ns);
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
            captures.push(Capture {
                path: path.to_owned(),
                start_unix_ns: began.saturating_add(start_ns),
                calls: calls.get(&member.file).map_or(&[], Vec::as_slice),
            });
        }
        remarks.extend(remark(job, &left_out));
    }
    (captures, remarks)
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
