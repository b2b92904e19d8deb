//! How far the figures can be trusted: what was lost, what was odd, what had not ended.

use marey::{Gap, Losses, Run, Status, Unavailable};
use marey_analysis::GPU_TIMES;
use serde::Serialize;

use crate::quantity::{counted, time_s};

/// How far the figures of a report can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quality {
    /// Nothing was lost and the capture was sound.
    pub is_complete: bool,
    /// Completed calls of sections and iterations, all of them.
    pub n_calls: u64,
    /// What durations mean.
    pub how_measured: String,
    /// What was not recorded; only what is not 0.
    pub losses: Vec<Loss>,
    /// What was wrong with the capture, and when sections are missing in it.
    pub warnings: Vec<String>,
    /// Sections that had not ended.
    pub open: Vec<OpenCall>,
    /// What of the machine was not read, and why.
    pub unavailable: Vec<NotRead>,
}

/// Something of the machine that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct NotRead {
    /// A source, a series with its subject, or a key of the report.
    pub what: String,
    /// In words for a user.
    pub why: String,
}

/// Something that was not recorded, or could have been lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// A name for programs.
    pub kind: &'static str,
    /// How many.
    pub count: u64,
    /// What that means, after the number.
    pub meaning: &'static str,
    /// Nothing of it is missing here: it would be after a kill.
    pub is_only_risk: bool,
}

/// A section that had not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Most gaps that a report lists one by one.
const MAX_GAPS: usize = 20;

impl Quality {
    pub(super) fn new(run: &Run) -> Self {
        let losses = Loss::all(&run.losses, &run.status);
        let is_whole = losses.iter().all(|loss| loss.is_only_risk);
        Self {
            is_complete: is_whole && run.warnings.is_empty(),
            n_calls: run.totals.iter().fold(0, |sum, totals| sum.saturating_add(totals.count)),
            how_measured: how_measured(&run.info.clock),
            losses,
            warnings: warnings(run),
            open: run
                .open
                .iter()
                .map(|open| OpenCall {
                    node: open.node,
                    thread: open.thread.and_then(|id| thread_name(run, id)),
                    start_ns: open.start_ns,
                    so_far_ns: open.end_ns(run.wall_ns) - open.start_ns,
                })
                .collect(),
            unavailable: unavailable(run),
        }
    }

    /// How many sections have no GPU time, and why; `None` where the capture does not say. Not safe to print.
    pub fn why_no_gpu_times(&self) -> Option<&str> {
        let said = self.unavailable.iter().find(|said| said.what == GPU_TIMES);
        said.map(|said| said.why.as_str())
    }
}

fn warnings(run: &Run) -> Vec<String> {
    let missing = |gap: &Gap| {
        format!(
            "between {} s and {} s, {} in the totals only",
            time_s(gap.start_ns),
            time_s(gap.end_ns),
            counted(gap.sections, "section is", "sections are")
        )
    };
    let mut said: Vec<String> = run.warnings.iter().map(ToString::to_string).collect();
    said.extend(run.gaps.iter().take(MAX_GAPS).map(missing));
    let rest = run.gaps.get(MAX_GAPS..).unwrap_or_default();
    if !rest.is_empty() {
        let missing = rest.iter().fold(0, |sum: u64, gap| sum.saturating_add(gap.sections));
        said.push(format!("{missing} more at {} other times", rest.len()));
    }
    said
}

/// What samplers could not read; then what no sampler of this run was there for.
fn unavailable(run: &Run) -> Vec<NotRead> {
    let not_read = |what: &str, why: &str| NotRead { what: what.into(), why: why.into() };
    let said = run.unavailable.iter();
    let mut found: Vec<NotRead> = said.map(|u| not_read(&u.what, &u.why)).collect();
    let is_sampler = |name: &str| name.starts_with("sampler.");
    let is_of_gpu = |name: &str| name.starts_with("gpu.");
    let names = || run.series.iter().map(|s| s.info.name.as_str());
    let says_gpu = |u: &Unavailable| u.what.contains("gpu") || u.what.contains("nvml");
    if !names().any(is_of_gpu) && !run.unavailable.iter().any(says_gpu) {
        found.push(not_read("gpu_metrics", "no GPU was sampled"));
    }
    let says_why = run.unavailable.iter().any(|u| u.what == "cpu_metrics");
    if !names().any(|name| !is_of_gpu(name) && !is_sampler(name)) && !says_why {
        found.push(not_read("cpu_metrics", "the machine was not sampled"));
    }
    found
}

fn how_measured(clock: &str) -> String {
    let clock = if clock.is_empty() { "not named" } else { clock };
    format!(
        "host clock ({clock}), from enter to leave; GPU work that a section only launched is not in its time"
    )
}

/// The thread's name, else its number; `None` of one that the run does not have. Not safe to print.
pub(crate) fn thread_name(run: &Run, id: u32) -> Option<String> {
    let thread = run.threads.get(id as usize)?;
    if thread.name.is_empty() {
        return Some(format!("thread {}", thread.os_id));
    }
    Some(thread.name.clone())
}

impl Loss {
    /// Everything of it that is not 0, for a process that runs or has ended so.
    pub fn all(lost: &Losses, status: &Status) -> Vec<Self> {
        let private = lost.threads_in_private_memory;
        let [one, several] = in_private_memory(status);
        let private = Self::counted("threads_in_private_memory", private, one, several);
        let all = [
            Self::counted(
                "sections_ring_full",
                lost.sections_ring_full,
                "section is in the totals only: a ring was full",
                "sections are in the totals only: a ring was full",
            ),
            Self::counted(
                "sections_not_written",
                lost.sections_not_written,
                "section is in the totals only: the capture could not be written or reached its size cap",
                "sections are in the totals only: the capture could not be written or reached its size cap",
            ),
            Self::counted(
                "notes_dropped",
                lost.notes_dropped,
                "event, reading or attribute was dropped",
                "events, readings or attributes were dropped",
            ),
            Self::counted(
                "calls_without_name",
                lost.calls_without_name,
                "call is under \"(other)\": too many names or call paths",
                "calls are under \"(other)\": too many names or call paths",
            ),
            Self::counted(
                "sections_unrecorded",
                lost.sections_unrecorded,
                "section was not recorded at all: too many were open, or there was no memory for its thread",
                "sections were not recorded at all: too many were open, or there was no memory for their threads",
            ),
            // Whoever closed the capture drained these threads before.
            private.map(|loss| Self { is_only_risk: status.is_closed(), ..loss }),
            Self::counted(
                "children_unrecorded",
                lost.children_unrecorded,
                "forked process was not recorded: it could not make a capture (another user by then, or another root)",
                "forked processes were not recorded: they could not make a capture (another user by then, or another root)",
            ),
        ];
        all.into_iter().flatten().collect()
    }

    fn counted(
        kind: &'static str,
        count: u64,
        one: &'static str,
        several: &'static str,
    ) -> Option<Self> {
        let meaning = if count == 1 { one } else { several };
        (count > 0).then_some(Self { kind, count, meaning, is_only_risk: false })
    }
}

/// What became of that which threads in private memory had not drained.
fn in_private_memory(status: &Status) -> [&'static str; 2] {
    match status {
        Status::Killed(_) | Status::EndedWithoutClosing => [
            "thread recorded in private memory: what it had not drained is lost (how much is not known)",
            "threads recorded in private memory: what they had not drained is lost (how much is not known)",
        ],
        Status::Running => [
            "thread records in private memory: what it has not drained is not in here and would be lost by a kill",
            "threads record in private memory: what they have not drained is not in here and would be lost by a kill",
        ],
        Status::Finished | Status::Failed(_) | Status::OutOfMemory(_) => [
            "thread recorded in private memory: what it had not drained would be lost by a kill",
            "threads recorded in private memory: what they had not drained would be lost by a kill",
        ],
    }
}
