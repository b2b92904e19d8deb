//! Traces of torch.profiler that ranks of a job wrote, as one.
//!
//! ```text
//! rank0.json  ─┐ read: when each began on the axis that all ranks share
//! rank1.json  ─┴─────────────────────────────────────────────────────────► written one behind the other
//! ```

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use marey_analysis::Thresholds;
use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::job::{RankSummary, Ranks};
use marey_analysis::ranks::ranks;
use marey_report::{Compression, JoinedTraces};

use super::compression_of;
use crate::aggregation::{Input, Inputs, Jobs, n_threads};
use crate::console::Console;
use crate::content::{Content, opened};
use crate::exit::Exit;
use crate::run_folder::{Place, replace_with};
use crate::side_by_side::of_each;

/// Where what nobody named is written, in this folder.
const NAME: &str = "ranks.trace.json.gz";

/// Several of them, by rank, then by start.
#[derive(Debug)]
pub(crate) struct TorchTraces {
    each: Vec<TorchTrace>,
    /// When the first of them began, nanoseconds since 1970; 0 when none says.
    base_unix_ns: u64,
    exit: Exit,
}

/// One that can be read.
#[derive(Debug)]
struct TorchTrace {
    path: PathBuf,
    summary: RankSummary,
    /// When its first event was, by its own clock.
    first_ns: i64,
    /// The same on the common axis.
    start_ns: u64,
}

impl TorchTraces {
    /// What the paths name, and what to know of it; `None` when that is a recording.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub(crate) fn find(
        paths: &[PathBuf],
        rank: Option<u32>,
        console: &mut Console<'_>,
    ) -> Result<Option<Self>> {
        if matches!(paths, [path] if !is_of_torch(path)) {
            return Ok(None);
        }
        let inputs = Inputs::of(paths, &Jobs::Newest)?;
        let mut problems: Vec<String> =
            inputs.unread.iter().map(|unread| unread.why.clone()).collect();
        let mut each = Vec::new();
        for (input, read) in inputs.files.iter().zip(of_each(&inputs.files, n_threads(), one)) {
            match read {
                Ok(trace) => each.push(trace),
                Err(error) => problems.push(format!("cannot read {}: {error}", input.name)),
            }
        }
        for said in inputs.remarks.iter().chain(&problems) {
            console.say(said);
        }
        let base_unix_ns = place(&mut each, console);
        each.retain(|trace| rank.is_none() || trace.summary.process.rank == rank);
        if each.is_empty() {
            bail!("no trace to write");
        }
        let exit = if problems.is_empty() { Exit::SUCCESS } else { Exit::FAILED };
        Ok(Some(Self { each, base_unix_ns, exit }))
    }

    /// How an export of them ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// Writes them as Chrome JSON; one event is in memory at a time. What is to know of it goes to `remarks`.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        compression: Compression,
        remarks: &mut Vec<String>,
    ) -> io::Result<()> {
        let mut joined = JoinedTraces::new(out, compression, self.base_unix_ns)?;
        for trace in &self.each {
            let start_ns = i64::try_from(trace.start_ns).unwrap_or(i64::MAX);
            let shift_ns = start_ns.saturating_sub(trace.first_ns);
            let file = opened(&trace.path).map_err(io::Error::other)?;
            let title = trace.title();
            let n_left_out = joined.add(file, &title, shift_ns).map_err(io::Error::other)?;
            if n_left_out > 0 {
                remarks.push(format!("{title}: {n_left_out} events are no JSON and were left out"));
            }
        }
        joined.finish()?.flush()
    }

    /// The same into a file. Returns its path.
    pub(super) fn write_file(
        &self,
        path: Option<&Path>,
        remarks: &mut Vec<String>,
    ) -> Result<PathBuf> {
        let path = path.map_or_else(|| NAME.into(), Path::to_owned);
        let compression = compression_of(&path);
        Ok(replace_with(path, |file| self.write(file, compression, remarks))?)
    }
}

impl TorchTrace {
    /// What its processes are named after.
    fn title(&self) -> String {
        match self.summary.process.rank {
            Some(rank) => format!("rank {rank}"),
            None => self.summary.file.clone(),
        }
    }
}

/// A trace, or a folder that holds no recording.
fn is_of_torch(path: &Path) -> bool {
    if path.is_dir() {
        return Place::at(path, "").is_err();
    }
    matches!(Content::of(path), Ok(Content::Trace))
}

fn one(input: &Input) -> Result<TorchTrace> {
    match Content::of(&input.path)? {
        Content::Trace => {}
        Content::Other(what) => bail!("is {what}"),
        Content::Capture | Content::Pickle => bail!("is no trace of torch.profiler"),
    }
    let trace = read(opened(&input.path)?, Limits::default())?;
    Ok(TorchTrace {
        path: input.path.clone(),
        summary: RankSummary::of_trace(&trace, &input.name),
        first_ns: trace.first_ns.unwrap_or_default(),
        start_ns: 0,
    })
}

/// Puts them on one axis as far as that is known, and in order; says what is to know of it. Returns when the axis begins.
fn place(each: &mut [TorchTrace], console: &mut Console<'_>) -> u64 {
    let found: Ranks = each.iter().map(|trace| trace.summary.clone()).collect();
    let answers = ranks(&found, &Thresholds::default());
    let jobs = answers.jobs.iter();
    let base_unix_ns = jobs.filter_map(|job| job.clocks.start_unix_ns).min();
    let mut starts = BTreeMap::new();
    for job in &answers.jobs {
        if !job.clocks.note.is_empty() {
            console.say(&job.clocks.note);
        }
        let of_job = job.clocks.start_unix_ns.zip(base_unix_ns);
        let of_job = of_job.map_or(0, |(start, base)| start.saturating_sub(base));
        for (member, clock) in job.members.iter().zip(&job.clocks.each) {
            let start_ns = clock.start_ns.unwrap_or_default().saturating_add(of_job);
            starts.insert(member.file.as_str(), start_ns);
        }
    }
    let base_unix_ns = base_unix_ns.unwrap_or_default();
    for trace in &mut *each {
        for warning in &trace.summary.warnings {
            console.say(&format!("{}: {warning}", trace.summary.file));
        }
        // Another one of the same rank stands where its own clock says.
        let by_itself = trace.summary.process.start_unix_ns.saturating_sub(base_unix_ns);
        trace.start_ns = starts.get(trace.summary.file.as_str()).copied().unwrap_or(by_itself);
    }
    each.sort_by_key(|trace| (trace.summary.process.rank, trace.start_ns));
    base_unix_ns
}
