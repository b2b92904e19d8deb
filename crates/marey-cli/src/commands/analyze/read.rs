//! Reads files side by side.
//!
//! ```text
//! files     a  b  c  d  e
//! thread 1  |--a--||-d-|            the next one takes the next file
//! thread 2  |-b-||--c--||--e--|     one file a thread in memory, answers are small
//! said      a  b  c  d  e           in the order of the files
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use marey_analysis::RankCalls;
use marey_analysis::import::chrome::ReadError;
use marey_report::{SnapshotFile, TraceFile};

use super::inputs::{Input, Kind};
use crate::content;
use crate::run_folder::{Asked, read_memory_snapshot, read_trace};

/// What a file says.
#[derive(Debug)]
pub(super) enum Said {
    /// With the calls of its ranks, which are small.
    Trace(Box<TraceFile>, Vec<RankCalls>),
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
    let next = AtomicUsize::new(0);
    let said: Vec<Mutex<Option<Said>>> = inputs.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((input, place)) = inputs.get(at).zip(said.get(at)) else {
                break;
            };
            let one = one(input, asked);
            if let Ok(mut place) = place.lock() {
                *place = Some(one);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..n_threads.min(inputs.len()) {
            marey::without_signals(|| scope.spawn(work));
        }
        work();
    });
    let said = said.into_iter().filter_map(|place| place.into_inner().ok()?);
    said.collect()
}

fn one(input: &Input, asked: &Asked) -> Said {
    match &input.kind {
        Kind::Trace => match read_trace(&input.path, input.name.clone(), asked) {
            Ok((file, calls)) => Said::Trace(Box::new(file), calls),
            Err(error) => Said::Trace(Box::new(unread(input, &why(&error))), Vec::new()),
        },
        Kind::Unreadable(why) => Said::Trace(Box::new(unread(input, why)), Vec::new()),
        Kind::Snapshot(run) => {
            match read_memory_snapshot(&input.path, input.name.clone(), run.as_deref()) {
                Ok(said) => {
                    let is_outside = said.answers.as_ref().and_then(|a| a.is_outside_of_run);
                    let remark = run.as_ref().and(remark(is_outside));
                    Said::Snapshot(Box::new(said), remark)
                }
                Err(error) => {
                    let said = SnapshotFile {
                        file: input.name.clone(),
                        answers: None,
                        problem: Some(error.to_string()),
                    };
                    Said::Snapshot(Box::new(said), None)
                }
            }
        }
    }
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

fn unread(input: &Input, why: &str) -> TraceFile {
    TraceFile::unread(input.name.clone(), why.to_owned())
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
