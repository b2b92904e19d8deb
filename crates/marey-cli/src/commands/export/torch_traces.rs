//! Traces of torch.profiler that ranks of a job wrote, as one.
//!
//! ```text
//! rank0.json  ─┐ read: when each began, on the axis that all ranks share
//! rank1.json  ─┴─────────────────────────────────────────────────────────► written one behind the other
//! ```

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use marey_analysis::Thresholds;
use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::job::{RankSummary, Ranks};
use marey_analysis::ranks::ranks;
use marey_folder::aggregation::{Input, Inputs, Jobs, merged, n_threads};
use marey_folder::content::{Content, Json, opened};
use marey_folder::run_folder::Place;
use marey_folder::side_by_side::of_each;
use marey_report::{Compression, JoinedTraces};

use crate::console::Console;
use crate::exit::Exit;

/// Several of them, by rank, then by start.
#[derive(Debug)]
pub(crate) struct TorchTraces {
    each: Vec<TorchTrace>,
    /// How an export of them ends.
    pub(crate) exit: Exit,
}

/// One that can be read.
#[derive(Debug)]
struct TorchTrace {
    path: PathBuf,
    summary: RankSummary,
    /// When its first event was, by its own clock.
    first_ns: i64,
    /// The same since 1970, by the clock that all share; `None` when nothing tells.
    start_unix_ns: Option<u64>,
    /// Why it goes together with no other: it is several ranks.
    merged: Option<String>,
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
        inputs.remarks.iter().chain(&problems).for_each(|said| console.say(said));
        if each.len() > 1 {
            each.iter()
                .filter_map(|trace| trace.merged.as_ref())
                .for_each(|said| console.say(said));
            each.retain(|trace| trace.merged.is_none());
        }
        place(&mut each, console);
        each.retain(|trace| rank.is_none() || trace.summary.process.rank == rank);
        if each.is_empty() {
            bail!("no trace to write");
        }
        let exit = if problems.is_empty() { Exit::SUCCESS } else { Exit::FAILED };
        Ok(Some(Self { each, exit }))
    }

    /// What the paths name are traces, in whatever format they are wanted.
    pub(crate) fn are_meant(paths: &[PathBuf]) -> bool {
        let is_trace =
            |file: &Input| matches!(Content::of(&file.path), Ok(Content::Json(Json::Trace)));
        paths.iter().all(|path| is_of_torch(path))
            && Inputs::of(paths, &Jobs::Newest).is_ok_and(|found| found.files.iter().any(is_trace))
    }

    /// None of them is where they are to be written.
    pub(crate) fn keep(&self, path: &Path) -> Result<()> {
        let Ok(place) = path.canonicalize() else { return Ok(()) };
        if self.each.iter().any(|trace| trace.path.canonicalize().is_ok_and(|at| at == place)) {
            bail!("{} is one of the traces to read; name another one for --output", path.display());
        }
        Ok(())
    }

    /// Writes them as Chrome JSON; one event is in memory at a time.
    pub(crate) fn write(&self, out: &mut dyn Write, compression: Compression) -> io::Result<()> {
        let base_unix_ns = self.each.iter().filter_map(|trace| trace.start_unix_ns).min();
        let base_unix_ns = base_unix_ns.unwrap_or_default();
        let mut joined = JoinedTraces::new(out, compression, base_unix_ns)?;
        for trace in &self.each {
            let start_ns = trace.start_unix_ns.unwrap_or(base_unix_ns) - base_unix_ns;
            let shift_ns = i64::try_from(start_ns).unwrap_or(i64::MAX);
            let shift_ns = shift_ns.saturating_sub(trace.first_ns);
            let title = match trace.summary.process.rank {
                Some(rank) => format!("rank {rank}"),
                None => trace.summary.file.clone(),
            };
            let file = opened(&trace.path).map_err(io::Error::other)?;
            joined.add(file, &title, shift_ns).map_err(io::Error::other)?;
        }
        joined.finish()?.flush()
    }
}

/// A trace, or a folder that holds no recording.
fn is_of_torch(path: &Path) -> bool {
    if path.is_dir() {
        return Place::at(path, "").is_err();
    }
    matches!(Content::of(path), Ok(Content::Json(_)))
}

fn one(input: &Input) -> Result<TorchTrace> {
    match Content::of(&input.path)? {
        Content::Json(_) => {}
        Content::Other(what) => bail!("is {what}"),
        Content::Capture | Content::Pickle => bail!("is no trace of torch.profiler"),
    }
    let trace = read(opened(&input.path)?, Limits::default())?;
    Ok(TorchTrace {
        path: input.path.clone(),
        summary: RankSummary::of_trace(&trace, &input.name),
        first_ns: trace.first_ns.unwrap_or_default(),
        start_unix_ns: None,
        merged: merged(&trace, input),
    })
}

/// Puts them on one axis as far as that is known, and in order; says what is to know of it.
fn place(each: &mut [TorchTrace], console: &mut Console<'_>) {
    let found: Ranks = each.iter().map(|trace| trace.summary.clone()).collect();
    let jobs = ranks(&found, &Thresholds::default()).jobs;
    let is_one_job = |n_members: usize| n_members == each.len();
    for job in jobs.iter().filter(|job| job.members.len() > 1 || is_one_job(job.members.len())) {
        console.say(&job.clocks.note);
    }
    if !jobs.iter().any(|job| is_one_job(job.members.len())) {
        console.say(
            "The traces are not those of one job with a trace a rank: they stand where their machines' clocks say, those that do not say when they ran at the start.",
        );
    }
    for trace in &mut *each {
        let of_trace = &trace.summary;
        for warning in &of_trace.warnings {
            console.say(&format!("{}: {warning}", of_trace.file));
        }
        let placed = jobs.iter().find_map(|job| {
            let place = job.members.iter().position(|member| member.file == of_trace.file)?;
            let since_ns = job.clocks.each.get(place)?.start_ns?;
            Some(job.clocks.start_unix_ns.unwrap_or_default().saturating_add(since_ns))
        });
        // Another one of the same rank stands where its own clock says.
        trace.start_unix_ns = placed.or_else(|| of_trace.process.start_ns());
    }
    each.sort_by_key(|trace| (trace.summary.process.rank, trace.start_unix_ns));
}
