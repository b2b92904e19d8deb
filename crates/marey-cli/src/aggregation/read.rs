//! Reads files side by side and keeps what each comes to.
//!
//! ```text
//! files     a  b  c  d  e
//! thread 1  |--a--||-d-|            one file a thread in memory
//! thread 2  |-b-||--c--||--e--|     its summary goes to the thread's own set
//! ranks     {a, d} ∪ {b, c, e}
//! ```

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use marey_analysis::import::chrome::{Limits, read};
use marey_analysis::job::{RankSummary, Ranks, Unread, rank_in_name};

use super::inputs::Input;
use super::json_file::JsonFile;
use crate::content::{Content, opened};
use crate::in_one_line;

/// Longest report or document of summaries.
const MAX_JSON_BYTES: u64 = 1 << 30;

pub(super) fn all(files: &[Input], n_threads: usize) -> Ranks {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut ranks = Ranks::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            match one(file) {
                Ok(found) => ranks.merge(found),
                Err(error) => ranks.add_unread(Unread {
                    file: file.name.clone(),
                    rank: rank_in_name(&file.name),
                    why: in_one_line(&error),
                }),
            }
        }
        ranks
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads.min(files.len()))
            .map(|_| marey::without_signals(|| scope.spawn(work)))
            .collect();
        let mut ranks = work();
        for other in others {
            if let Ok(found) = other.join() {
                ranks.merge(found);
            }
        }
        ranks
    })
}

/// What a file comes to.
fn one(file: &Input) -> anyhow::Result<Ranks> {
    let summary = match Content::of(&file.path)? {
        Content::Capture => of_capture(file)?,
        Content::Trace => match JsonFile::of(&file.path) {
            Some(JsonFile::Summaries) => return Ok(Ranks::from_json(&bytes(file)?)?),
            Some(JsonFile::Report) => of_report(file)?,
            _ => {
                let trace = read(opened(&file.path)?, Limits::default())?;
                RankSummary::of_trace(&trace, &file.name)
            }
        },
        Content::Pickle => bail!("is a memory snapshot, which tells of no rank"),
        Content::Other(what) => bail!("is {what}"),
    };
    Ok(Ranks::from_iter([summary]))
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

fn bytes(file: &Input) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    opened(&file.path)?.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_JSON_BYTES {
        bail!("is longer than {} MiB", MAX_JSON_BYTES >> 20);
    }
    Ok(bytes)
}
