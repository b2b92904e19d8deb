//! What one process did, as values: the only thing that analysis sees.
//!
//! All times are nanoseconds since the start of the run (`start_unix_ns` in [`RunInfo`] says when that was),
//! already converted from clock ticks. Sizes are bytes. What is not known is `None`.

use crate::device_work::{GpuSpan, SectionMemory};
use crate::generation::GenerationRecord;
use crate::histogram::Histogram;
use crate::launch::Launch;
use crate::resources::{Resources, SectionResources};
use crate::series::{Series, Unavailable};
use crate::value::Attributes;
use crate::warning::Warning;
use crate::window::Window;

/// One process from its first to its last event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Where, when and how the process ran.
    pub info: RunInfo,
    /// How it ended.
    pub status: Status,
    /// From the start of the recorder to its end, or to the last thing known when nobody closed the capture.
    pub wall_ns: u64,
    /// Call paths; a node's id is its index. Node 0 is the root (no name), a parent always has a smaller id.
    pub nodes: Vec<Node>,
    /// Threads that recorded something; a thread's id is its index.
    pub threads: Vec<Thread>,
    /// Completed sections that were recorded one by one, ordered by thread, then by end.
    /// Empty or incomplete when records were dropped (`losses`); `totals` are exact all the same.
    pub sections: Vec<Section>,
    /// Exact figures of each node over all threads, dropped records included; same index as `nodes`.
    pub totals: Vec<NodeTotals>,
    /// Sections that were open when the capture ended, outermost first within a thread.
    pub open: Vec<OpenSection>,
    /// Attributes of recorded sections, ordered by `section`.
    pub section_attributes: Vec<SectionAttributes>,
    /// Named intervals with tags, ordered by start.
    pub sessions: Vec<Session>,
    /// Points in time with a name, ordered by time.
    pub events: Vec<Event>,
    /// Memory readings, ordered by time.
    pub memory: Vec<MemoryReading>,
    /// Readings of named counters, ordered by time.
    pub counters: Vec<CounterReading>,
    /// What caches did, ordered by time.
    pub cache_events: Vec<CacheEvent>,
    /// What the program reported about its own work, ordered by time.
    pub generation: Vec<GenerationRecord>,
    /// Windows of heavier instruments, ordered by when they were opened.
    pub windows: Vec<Window>,
    /// What GPUs did for sections, ordered by the section's start. Sections that were not measured have none.
    pub gpu_spans: Vec<GpuSpan>,
    /// What sections did to torch's memory, ordered by the section's start, then by device. Most sections have none.
    pub section_memory: Vec<SectionMemory>,
    /// What outer sections used, ordered by the section's start. Deeper sections, and those beyond the budget, have none.
    pub section_resources: Vec<SectionResources>,
    /// Times in which a thread worked for a session that was begun elsewhere, in no order.
    pub session_work: Vec<SessionWork>,
    /// What samplers read, ordered by name and subject.
    pub series: Vec<Series>,
    /// What samplers could not read, and why, in recorded order.
    pub unavailable: Vec<Unavailable>,
    /// What was not recorded, counted.
    pub losses: Losses,
    /// Where `losses.sections_not_written` lie, ordered by start; they do not overlap.
    pub gaps: Vec<Gap>,
    /// What was wrong with the capture itself.
    pub warnings: Vec<Warning>,
}

/// Where, when and how a process ran. Texts are empty when unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// Wall clock at the start of the run, nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Process id.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// The job that this process belongs to.
    pub job_id: String,
    /// Place in the job; `None` outside a job of several ranks.
    pub rank: Option<u32>,
    /// Number of ranks in the job.
    pub world_size: Option<u32>,
    /// Place among the ranks of its host; `None` when not known.
    pub local_rank: Option<u32>,
    /// Command line; what may be a prompt or a secret in it is `<redacted>`.
    pub command: Vec<String>,
    /// `tsc` or `monotonic`: how time was read.
    pub clock: String,
    /// Everything else worth knowing, such as versions, as key and value in recorded order.
    pub facts: Vec<(String, String)>,
}

impl RunInfo {
    /// The fact that is [`Self::before_recording_ns`].
    pub const BEFORE_RECORDING: &str = "before_recording_ms";

    /// How old the process was when the recording began, to 10 ms: most of it is what it imported. `None` where that is not known.
    pub fn before_recording_ns(&self) -> Option<u64> {
        self.fact(Self::BEFORE_RECORDING)?.parse::<u64>().ok()?.checked_mul(1_000_000)
    }

    /// The value of a fact; the last one counts.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

impl Run {
    /// How it ended by all that is known: what it said itself, and what `marey run` saw of the command it belongs to. One that finished is
    /// failed where its command is.
    pub fn ending(&self) -> Status {
        let own = &self.status;
        if *own == Status::Running {
            return Status::Running;
        }
        let Some(launch) = Launch::of(&self.info) else {
            return own.clone();
        };
        let is_itself = launch.pid == self.info.pid;
        match launch.status() {
            Some(Status::Finished) if is_itself => Status::Finished,
            None | Some(Status::Finished) => own.clone(),
            // The kernel killed another one, and the command went on.
            Some(Status::OutOfMemory(_)) if launch.exit_code == Some(0) => own.clone(),
            // It tells more of why than an exit code does.
            Some(Status::Failed(_)) if own.is_failure() => own.clone(),
            Some(seen) => seen,
        }
    }
}

impl Status {
    /// How a process ended that says why it failed: the name of its exception, say.
    pub fn of_failure(reason: String) -> Self {
        let name = reason.rsplit(['.', ' ']).next();
        match name {
            Some("MemoryError" | "OutOfMemoryError" | "DefaultCPUAllocator") => {
                Self::OutOfMemory(reason)
            }
            _ => Self::Failed(reason),
        }
    }

    /// It closed its capture, and that is whole.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Finished | Self::Failed(_) | Self::OutOfMemory(_))
    }

    /// It said why it failed, or its exit code did.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::OutOfMemory(_))
    }
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It had not ended when the capture was read.
    Running,
    /// It closed its capture.
    Finished,
    /// It closed its capture and said that it failed, with the reason.
    Failed(String),
    /// It failed for lack of memory, with the reason: the exception that it closed its capture with, or what its launcher saw.
    OutOfMemory(String),
    /// `marey run` saw it die of this signal.
    Killed(i32),
    /// It is gone and never closed its capture; nobody saw why.
    #[default]
    EndedWithoutClosing,
}

/// What a node counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// A named span.
    #[default]
    Section,
    /// One iteration of a loop; the node's name is the loop's.
    Iteration,
}

/// An interned call path: a name under a parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// `None` only for the root.
    pub parent: Option<u32>,
    /// As the user gave it, cut at 1 KiB. Never safe to print as it is: it may hold markup or control codes.
    pub name: String,
    /// Section or iteration.
    pub kind: NodeKind,
    /// It ran beside its parent, in another asyncio task: its time does not count against the parent's self time.
    pub is_detached: bool,
}

/// A thread that recorded something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's thread id.
    pub os_id: u32,
    /// The thread's name when it first recorded; empty when unknown.
    pub name: String,
}

/// One completed section or iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Index into `Run::threads`.
    pub thread: u32,
    /// Index into `Run::nodes`.
    pub node: u32,
    /// When it was entered.
    pub start_ns: u64,
    /// When it was left; never before `start_ns`.
    pub end_ns: u64,
    /// 0 for the thread's own stack, otherwise a number for the asyncio task (numbers wrap at 65 535).
    pub flow: u16,
    /// It was left by an error.
    pub is_failed: bool,
    /// It was suspended in between (a generator): `end_ns` is `start_ns` and the time that it ran.
    pub has_pauses: bool,
}

impl Section {
    /// Length of the section.
    pub fn duration_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}

/// Exact figures of one node, all threads together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeTotals {
    /// Completed calls.
    pub count: u64,
    /// Sum of their durations.
    pub sum_ns: u64,
    /// Shortest; 0 when `count` is 0.
    pub min_ns: u64,
    /// Longest; 0 when `count` is 0.
    pub max_ns: u64,
    /// Duration of the call that began first.
    pub first_ns: u64,
    /// Duration of the call that ended last.
    pub last_ns: u64,
    /// Calls that were left by an error.
    pub errors: u64,
    /// Distribution of durations within ±3.1 %; `None` when the histogram arena was exhausted for one of the threads.
    pub histogram: Option<Histogram>,
    /// Number of threads that completed calls of this node; at least so many, when records were dropped and threads came and went.
    pub n_threads: u32,
}

/// A section that was open when the capture ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSection {
    /// Index into `Run::threads`; `None` when the thread never completed anything.
    pub thread: Option<u32>,
    /// Index into `Run::nodes`.
    pub node: u32,
    /// When it was entered.
    pub start_ns: u64,
    /// Until when its process is known to have been there: the end of the recording, which in a job is not that of the job.
    pub until_ns: u64,
}

impl OpenSection {
    /// When what is known of it ends, not after the end of the run and not before it began.
    pub fn end_ns(&self, wall_ns: u64) -> u64 {
        self.until_ns.min(wall_ns).max(self.start_ns)
    }
}

/// Attributes that were given to one recorded section.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionAttributes {
    /// Index into `Run::sections`.
    pub section: usize,
    /// The attributes.
    pub attributes: Attributes,
    /// Index into `Run::sessions`, for a section that was opened for one session.
    pub session: Option<u32>,
}

/// A named interval of the run, what a user calls one generation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// What [`crate::Recorder::start_session`] returned.
    pub number: u64,
    /// The user's name for it.
    pub name: String,
    /// When it began.
    pub start_ns: u64,
    /// When it ended; `None` if it was open when the capture ended.
    pub end_ns: Option<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// What the whole process used between its two ends, whoever of it did; `None` where it has no end or that was not read.
    pub used: Option<Resources>,
    /// The user's tags.
    pub tags: Attributes,
    /// The session that it is nested in: an index into `Run::sessions`.
    pub parent: Option<u32>,
    /// The thread that began it: an index into `Run::threads`.
    pub thread: u32,
    /// The flow that it began in, as in [`Section::flow`]; [`Session::IN_NO_FLOW`] for that of a generator, which goes on and pauses.
    pub flow: u16,
}

impl Session {
    /// What is recorded in the thread that began it says itself whether it belongs to it.
    pub const IN_NO_FLOW: u16 = u16::MAX;
}

/// A time in which a thread worked for a session that was begun elsewhere: an executor's worker during a task, or a thread that was started
/// in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionWork {
    /// Index into `Run::sessions`.
    pub session: u32,
    /// Index into `Run::threads`.
    pub thread: u32,
    /// The flow in which it did, as in [`Section::flow`].
    pub flow: u16,
    /// Since when.
    pub start_ns: u64,
    /// Until when; `None`: it was started in the session, and works for it as long as that lasts.
    pub end_ns: Option<u64>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Outcome {
    /// It came to its end.
    Done = 0,
    /// An error left it.
    Failed = 1,
    /// It was stopped before its end (Ctrl-C, a cancelled task, a callback of the pipeline), or had not ended when the capture did.
    #[default]
    CutOff = 2,
}

impl Outcome {
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        [Self::Done, Self::Failed, Self::CutOff].into_iter().find(|outcome| *outcome as u8 == code)
    }

    /// As machines read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::CutOff => "cut_off",
        }
    }
}

/// A point in time with a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// When.
    pub at_ns: u64,
    /// Index into `Run::threads`.
    pub thread: u32,
    /// The user's name for it.
    pub name: String,
    /// The user's data.
    pub attributes: Attributes,
    /// Index into `Run::sessions`, when it was recorded for one session.
    pub session: Option<u32>,
}

/// Where a memory reading comes from, which is what it means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemorySource {
    /// Resident memory of the process (`/proc/self/statm`, peak from `VmHWM`).
    #[default]
    Process,
    /// torch's CUDA caching allocator on this device.
    TorchCuda(u32),
}

/// One memory reading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryReading {
    /// When.
    pub at_ns: u64,
    /// The user's label; `None` for readings that the recorder took by itself.
    pub label: Option<String>,
    /// What was read.
    pub source: MemorySource,
    /// Bytes in use: resident (process) or allocated to tensors (torch).
    pub allocated_bytes: u64,
    /// Bytes that the allocator holds; `None` for the process.
    pub reserved_bytes: Option<u64>,
    /// Highest `allocated_bytes` so far, as the source counts it; `None` when not read.
    pub peak_bytes: Option<u64>,
    /// Index into `Run::sessions`, when it was recorded for one session.
    pub session: Option<u32>,
}

/// One reading of a named counter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CounterReading {
    /// When.
    pub at_ns: u64,
    /// The counter.
    pub name: String,
    /// Its value; never NaN or infinite.
    pub value: f64,
    /// The session that it was recorded for: an index into `Run::sessions`.
    pub session: Option<u32>,
}

/// What a cache did at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CacheOutcome {
    /// Found and used.
    Hit,
    /// Not found, or not similar enough.
    Miss,
    /// Thrown out to make room.
    Eviction,
    /// Looked up; what came of it is recorded apart or not known.
    #[default]
    Lookup,
}

impl CacheOutcome {
    /// As machines read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::Eviction => "eviction",
            Self::Lookup => "lookup",
        }
    }
}

/// One decision of a cache.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CacheEvent {
    /// When.
    pub at_ns: u64,
    /// Which cache (`teacache`, `first_block_cache`, …).
    pub cache: String,
    /// What it did.
    pub outcome: CacheOutcome,
    /// Denoising step, when known.
    pub step: Option<u64>,
    /// Autoregressive block or chunk, when known.
    pub block: Option<u64>,
    /// Similarity or difference that was compared with `threshold`.
    pub score: Option<f64>,
    /// The limit that decided.
    pub threshold: Option<f64>,
    /// Bytes that the cache held afterwards.
    pub held_bytes: Option<u64>,
    /// Anything else that the user gave.
    pub attributes: Attributes,
    /// Index into `Run::sessions`, when it was recorded for one session.
    pub session: Option<u32>,
}

/// A part of the run of which some sections are in the totals, but not in `Run::sections`: the middle of a run that had no room for all of
/// them, say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// When the last section before it was over on its thread; 0 when there is none.
    pub start_ns: u64,
    /// When the first one after it was over; the end of the run when there is none.
    pub end_ns: u64,
    /// Sections that are missing.
    pub sections: u64,
}

/// What was not recorded. All zero is a complete capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Sections that are in the totals but not recorded one by one, because a ring was full.
    pub sections_ring_full: u64,
    /// Sections that are in the totals but not in the capture: disk full, write error, capture size cap, or damaged since.
    pub sections_not_written: u64,
    /// Events, readings, attributes and the like that were dropped.
    pub notes_dropped: u64,
    /// Calls that were counted under "(other)" because there were too many distinct names or call paths.
    pub calls_without_name: u64,
    /// Sections that were not recorded at all because too many were open.
    pub sections_unrecorded: u64,
    /// Threads whose ring was in private memory: what they had not drained would be lost at a kill.
    pub threads_in_private_memory: u64,
    /// Forked children that recorded and could not open a capture (another user by then, another root): nothing of theirs was written.
    pub children_unrecorded: u64,
}

impl Losses {
    /// Sections that are in the totals but not in `Run::sections`.
    pub fn sections_missing(&self) -> u64 {
        self.sections_ring_full.saturating_add(self.sections_not_written)
    }

    /// Nothing was lost.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
