//! What files say, each by itself, and those of several ranks of one job together.
//!
//! ```text
//! rank0.json  rank 0 of 2 ──► calls ╮
//! rank1.json  rank 1 of 2 ──► calls ┴──► what they waited for each other
//! ```

use std::collections::BTreeSet;
use std::fs::File;

use anyhow::anyhow;
use marey_analysis::import::chrome::{Limits, ReadError, Trace, read};
use marey_analysis::job::{RankSummary, rank_in_name};
use marey_analysis::{Thresholds, across_ranks, rank_findings};
use marey_folder::content;
use marey_folder::run_folder::{Asked, read_memory_snapshot, read_trace};
use marey_folder::side_by_side::of_each;
use marey_report::{SnapshotFile, TraceFile, TraceRanks};

use super::inputs::{Input, Kind};

/// What a file says.
#[derive(Debug)]
pub(super) enum Said {
    /// With the calls of its ranks, which are small.
    Trace(Box<TraceFile>, Vec<RankSummary>),
    Snapshot(Box<SnapshotFile>, Option<&'static str>),
}

impl Said {
    /// The file, and why it could not be read.
    pub(super) fn problem(&self) -> Option<(&str, &str)> {
        let (file, problem) = match self {
            Self::Trace(said, _) => (&said.file, &said.problem),
            Self::Snapshot(said, _) => (&said.file, &said.problem),
        };
        Some((file, problem.as_deref()?))
    }

    /// What whoever asked should know before reading.
    pub(super) fn remark(&self) -> Option<&'static str> {
        match self {
            Self::Trace(..) => None,
            Self::Snapshot(_, remark) => *remark,
        }
    }
}

/// Every file, in order, whatever the number of threads.
pub(super) fn all(inputs: &[Input], asked: &Asked, n_threads: usize) -> Vec<Said> {
    of_each(inputs, n_threads, |input| one(input, asked))
}

fn one(input: &Input, asked: &Asked) -> Said {
    let name = input.name.clone();
    let unread =
        |why: String| Said::Trace(Box::new(TraceFile::unread(name.clone(), why)), Vec::new());
    match &input.kind {
        Kind::Trace => match read_trace(&input.path, name.clone(), asked) {
            Ok((file, calls)) => Said::Trace(Box::new(file), calls),
            Err(error) => unread(why(&error)),
        },
        Kind::Unreadable(why) => unread(why.clone()),
        Kind::Snapshot(_) if !asked.what_if.is_empty() => Said::Snapshot(
            Box::new(SnapshotFile {
                file: name,
                problem: Some("it is a memory snapshot".into()),
                answers: None,
            }),
            None,
        ),
        Kind::Snapshot(run) => {
            let said = read_memory_snapshot(&input.path, name, run.as_deref());
            let answers = said.answers.as_ref().filter(|_| run.is_some());
            let remark = answers.and_then(|answers| remark(answers.is_outside_of_run));
            Said::Snapshot(Box::new(said), remark)
        }
    }
}

/// A trace in which graphs were recorded.
pub(super) fn graph_capture(input: &Input) -> anyhow::Result<Trace> {
    let trace = || Ok(read(File::open(&input.path)?, Limits::default())?);
    trace().map_err(|error| anyhow!("cannot read {}: {}", input.name, why(&error)))
}

/// In words for who took another tool's JSON for a trace.
fn why(error: &anyhow::Error) -> String {
    let other = match error.downcast_ref() {
        Some(ReadError::NoEvents(keys)) => content::by_keys(keys),
        _ => None,
    };
    other.map_or_else(|| error.to_string(), |what| format!("is {what}"))
}

fn remark(is_outside: Option<bool>) -> Option<&'static str> {
    match is_outside {
        Some(false) => None,
        Some(true) => Some(
            "nothing in the snapshot happened during the recording: is it of the same process?",
        ),
        None => Some(
            "when anything in the snapshot happened is not known: --run tells nothing about it",
        ),
    }
}

/// What files of different ranks say together; `None` when they are of fewer than two, name a rank twice, or disagree about how many there
/// are: they are not of one job then.
pub(super) fn together(said: &[Said], thresholds: &Thresholds) -> Option<TraceRanks> {
    let mut all: Vec<RankSummary> = Vec::new();
    let (mut world_sizes, mut n_files, mut span_ns) = (BTreeSet::new(), 0, 0);
    for one in said {
        let Said::Trace(file, calls) = one else {
            continue;
        };
        let Some(answers) = file.answers.as_ref().filter(|_| !calls.is_empty()) else {
            continue;
        };
        n_files += 1;
        span_ns = answers.span_ns.max(span_ns);
        world_sizes.extend(answers.documents.iter().filter_map(|d| d.world_size));
        all.extend(named(calls, &file.file));
    }
    let ranks: Option<BTreeSet<u32>> = all.iter().map(|calls| calls.process.rank).collect();
    let is_one_job = ranks?.len() == all.len() && world_sizes.len() <= 1;
    if n_files < 2 || !is_one_job {
        return None;
    }
    all.sort_by_key(|calls| calls.process.rank);
    let communication = across_ranks(&all)?;
    Some(TraceRanks { findings: rank_findings(&communication, span_ns, thresholds), communication })
}

/// With the rank that the file is named after where the trace does not say it.
fn named(calls: &[RankSummary], file: &str) -> Vec<RankSummary> {
    let mut calls = calls.to_vec();
    if let [only] = calls.as_mut_slice() {
        only.process.rank = only.process.rank.or_else(|| rank_in_name(file));
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;
    use marey_report::trace_json;

    #[test]
    fn the_number_of_threads_changes_nothing() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-analysis/tests/data/traces");
        let inputs = super::super::inputs::of(&[folder.into()], None).unwrap();
        let asked = Asked::default();
        let document = |n_threads| {
            let said = all(&inputs, &asked, n_threads).into_iter();
            let files: Vec<TraceFile> = said
                .filter_map(|said| match said {
                    Said::Trace(file, _) => Some(*file),
                    Said::Snapshot(..) => None,
                })
                .collect();
            assert_eq!(files.len(), inputs.len());
            trace_json(&files, None, &[])
        };
        assert!(inputs.len() > 10);
        let alone = document(1);
        assert_eq!(document(3), alone);
        assert_eq!(document(64), alone);
    }
}
