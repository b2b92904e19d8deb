//! How far the figures can be trusted: what was lost, what was odd, what had not ended.

use marey::Run;
use serde::Serialize;

/// How far the figures of a report can be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Quality {
    /// Nothing was lost and the capture was sound.
    pub is_complete: bool,
    /// What durations mean.
    pub how_measured: String,
    /// What was not recorded; only what is not 0.
    pub losses: Vec<Loss>,
    /// What was wrong with the capture.
    pub warnings: Vec<String>,
    /// Sections that had not ended.
    pub open: Vec<OpenCall>,
}

/// Something that was not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// A name for programs.
    pub kind: &'static str,
    /// How many.
    pub count: u64,
    /// What that means, after the number.
    pub meaning: &'static str,
}

/// A section that had not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenCall {
    /// Index into `Run::nodes`.
    pub node: u32,
    /// The thread's name, else its number as `thread 4242`; `None` when the thread is not known. Not safe to print.
    pub thread: Option<String>,
    /// When it was entered, since the start of the run.
    pub start_ns: u64,
    /// Time up to the end of the run.
    pub so_far_ns: u64,
}

impl Quality {
    pub(super) fn new(run: &Run) -> Self {
        Self {
            is_complete: run.losses.is_none() && run.warnings.is_empty(),
            how_measured: how_measured(&run.info.clock),
            losses: losses(run),
            warnings: run.warnings.iter().map(ToString::to_string).collect(),
            open: run
                .open
                .iter()
                .map(|open| OpenCall {
                    node: open.node,
                    thread: open.thread.and_then(|id| thread_name(run, id)),
                    start_ns: open.start_ns,
                    so_far_ns: run.wall_ns.saturating_sub(open.start_ns),
                })
                .collect(),
        }
    }
}

fn how_measured(clock: &str) -> String {
    let clock = if clock.is_empty() { "not named" } else { clock };
    format!(
        "host clock ({clock}), from enter to leave; GPU work that a section only launched is not in its time"
    )
}

fn thread_name(run: &Run, id: u32) -> Option<String> {
    let thread = run.threads.get(id as usize)?;
    if thread.name.is_empty() {
        return Some(format!("thread {}", thread.os_id));
    }
    Some(thread.name.clone())
}

fn losses(run: &Run) -> Vec<Loss> {
    let lost = run.losses;
    let table = [
        (
            "sections_ring_full",
            lost.sections_ring_full,
            "sections are in the totals only: a ring was full",
        ),
        (
            "sections_not_written",
            lost.sections_not_written,
            "sections are in the totals only: the capture could not be written or reached its size cap",
        ),
        (
            "notes_dropped",
            lost.notes_dropped,
            "events, readings or attributes were dropped",
        ),
        (
            "calls_without_name",
            lost.calls_without_name,
            "calls are under \"(other)\": too many names or call paths",
        ),
        (
            "sections_unrecorded",
            lost.sections_unrecorded,
            "sections were not recorded at all: too many were open",
        ),
        (
            "threads_in_private_memory",
            lost.threads_in_private_memory,
            "threads recorded in private memory, which a kill would lose",
        ),
    ];
    table
        .into_iter()
        .filter(|(_, count, _)| *count > 0)
        .map(|(kind, count, meaning)| Loss {
            kind,
            count,
            meaning,
        })
        .collect()
}
