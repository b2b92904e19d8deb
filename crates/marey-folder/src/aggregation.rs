//! Files of the ranks of jobs, found and reduced to their summaries: what `marey aggregate` and `marey.aggregate_reports()` share.
//!
//! ```text
//! paths ─► inputs ─► read, in threads ─► Ranks ─► answers
//!          (files)   (one file a thread in memory)
//! ```

mod inputs;
mod jobs;
mod path_jobs;

use std::io::Read;

use anyhow::{Context, bail};
use marey_analysis::import::chrome::{Limits, Trace, read};
use marey_analysis::import::flight_recorder::read_dump;
use marey_analysis::job::{RankSummary, Ranks, Unread, rank_in_name};

use crate::content::{Content, Json, opened};
use crate::in_one_line;
use crate::side_by_side::of_each;

pub use crate::side_by_side::n_threads;
pub use inputs::{Input, Inputs};

/// Which jobs of a folder with several are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Jobs {
    /// The one that began last.
    #[default]
    Newest,
    /// All of them.
    All,
    /// This one.
    Only(String),
}

impl Jobs {
    /// `all`, or the name of a job.
    pub fn named(name: &str) -> Self {
        match name {
            "all" => Self::All,
            name => Self::Only(name.to_owned()),
        }
    }
}

/// Reads files side by side, `n_threads` at a time, and keeps of each what it comes to. The order of files and the number of threads
/// change nothing.
pub fn summaries(files: &[Input], n_threads: usize) -> Ranks {
    let mut ranks = Ranks::new();
    for (file, found) in files.iter().zip(of_each(files, n_threads, one)) {
        match found {
            Ok(found) => ranks.merge(found),
            Err(error) => ranks.add_unread(Unread {
                file: file.name.clone(),
                rank: rank_in_name(&file.name),
                why: in_one_line(&error),
                is_merged: false,
            }),
        }
    }
    ranks
}

/// Longest report, dump or document of summaries.
const MAX_JSON_BYTES: u64 = 1 << 30;

/// What a file comes to.
fn one(file: &Input) -> anyhow::Result<Ranks> {
    let summary = match Content::of(&file.path)? {
        Content::Capture => of_capture(file)?,
        Content::Json(Json::Summaries) => return Ok(Ranks::from_json(&bytes(file)?)?),
        Content::Json(Json::Report) => of_report(file)?,
        Content::Json(Json::Dump) | Content::Pickle => of_dump(file)?,
        Content::Json(_) => {
            let trace = read(opened(&file.path)?, Limits::default())?;
            if let Some(why) = merged(&trace, file) {
                let mut ranks = Ranks::new();
                ranks.add_unread(Unread {
                    file: file.name.clone(),
                    rank: None,
                    why,
                    is_merged: true,
                });
                return Ok(ranks);
            }
            RankSummary::of_trace(&trace, &file.name)
        }
        Content::Other(what) => bail!("is {what}"),
    };
    Ok(Ranks::from_iter([summary]))
}

/// Why nothing of a trace into which several ranks were merged is that of a rank, and what to do with it.
pub fn merged(trace: &Trace, file: &Input) -> Option<String> {
    let (n_ranks, name) = (trace.n_merged_ranks, &file.name);
    (n_ranks > 1).then(|| {
        format!(
            "{name} is left out: {n_ranks} ranks were merged into it before; `marey analyze {name}` tells of it alone"
        )
    })
}

/// A capture that does not say whose it is would be a job of its own, with figures that belong to nobody.
fn of_capture(file: &Input) -> anyhow::Result<RankSummary> {
    let run = marey::load(&file.path)?;
    if run.info.pid == 0 && run.info.job_id.is_empty() {
        bail!("is damaged where it says which process it is of");
    }
    Ok(RankSummary::of_run(&run, &file.name))
}

fn of_report(file: &Input) -> anyhow::Result<RankSummary> {
    let report = serde_json::from_slice(&bytes(file)?).context("is damaged")?;
    RankSummary::of_report(&report, &file.name, rank_in_name(&file.name))
        .context("is no profiling report")
}

fn of_dump(file: &Input) -> anyhow::Result<RankSummary> {
    Ok(RankSummary::of_dump(read_dump(&bytes(file)?)?, &file.name))
}

fn bytes(file: &Input) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(&file.path)?.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_JSON_BYTES {
        bail!("is longer than {} MiB", MAX_JSON_BYTES >> 20);
    }
    Ok(bytes)
}
