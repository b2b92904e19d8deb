//! Where, when and how a process ran, and how it ended.

use marey::{Launch, Run, RunInfo, Status, signal_text};
use serde::Serialize;

use crate::quantity::{bytes, counted, duration_ns};

/// Where, when and how a process ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFacts {
    /// Host, process id and start: no two runs share them.
    pub id: String,
    /// The job that it belongs to; `None` when unknown.
    pub job_id: Option<String>,
    /// Host name; `None` when unknown.
    pub host: Option<String>,
    /// Process id.
    pub pid: u32,
    /// Place in the job; `None` outside a job of several ranks.
    pub rank: Option<u32>,
    /// Number of ranks in the job.
    pub world_size: Option<u32>,
    /// Place among the ranks of its host; `None` when not known.
    pub local_rank: Option<u32>,
    /// Command line; not safe to print.
    pub command: Vec<String>,
    /// Wall clock at the start, nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// From the start to the end, or to the last thing known.
    pub wall_ns: u64,
    /// How old the process was at the start, to 10 ms: most of it is what it imported. `None` where that is not known.
    pub before_recording_ns: Option<u64>,
    /// How time was read: `tsc` or `monotonic`; `None` when unknown.
    pub clock: Option<String>,
    /// Versions and the like, in recorded order.
    pub facts: Vec<(String, String)>,
    /// What `marey run` saw of the command that the run belongs to; `None` without it.
    pub launch: Option<Launch>,
}

/// What a launcher saw in one line: time, processor time and memory; what is not known is left out. `None` while the command runs.
pub fn launch_text(launch: &Launch) -> Option<String> {
    let mut parts = vec![duration_ns(launch.wall_ns?)];
    parts.extend(launch.exit_code.map(|code| format!("exit code {code}")));
    parts.extend(launch.signal.map(signal_text));
    if let Some(usage) = launch.usage {
        let cpu_ns = usage.cpu_user_ns.saturating_add(usage.cpu_system_ns);
        parts.push(format!("CPU {}", duration_ns(cpu_ns)));
        let at_most = if usage.is_peak_at_most { "at most " } else { "" };
        parts.push(format!("largest process {at_most}{}", bytes(usage.peak_bytes)));
    }
    parts.extend(killed_text(launch));
    Some(parts.join(", "))
}

/// `the kernel killed 2 processes for lack of memory`; `None` where it killed none that is known.
pub(crate) fn killed_text(launch: &Launch) -> Option<String> {
    let kills = launch.oom_kills.filter(|kills| *kills > 0)?;
    let processes = counted(kills, "process", "processes");
    Some(format!("the kernel killed {processes} for lack of memory"))
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// In one word.
    pub kind: StatusKind,
    /// Number of the signal that killed it.
    pub signal: Option<i32>,
    /// Why it failed, in its own words; not safe to print.
    pub reason: Option<String>,
    /// Processes of the job that are gone while it went on, each with where it was, such as `load.py (pid 7) in decode`; not safe to print.
    pub lost: Vec<String>,
}

/// How a run ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusKind {
    /// It had not ended when the capture was read.
    Running,
    /// It closed its capture.
    Finished,
    /// It closed its capture and said that it failed.
    Failed,
    /// It was seen to die of a signal.
    Killed,
    /// It failed, or was killed, for lack of memory.
    OutOfMemory,
    /// It is gone and never closed its capture.
    EndedWithoutClosing,
}

impl StatusKind {
    /// It ended badly for a reason that is known.
    pub(crate) fn has_failed(self) -> bool {
        matches!(self, Self::Failed | Self::Killed | Self::OutOfMemory)
    }

    /// It did not come to its own end.
    pub(crate) fn is_cut_short(self) -> bool {
        self.has_failed() || self == Self::EndedWithoutClosing
    }
}

impl RunFacts {
    /// The fact that says why a program was sampled from outside.
    pub const OUTSIDE_BECAUSE: &str = "outside_because";

    /// That and why a program was sampled from outside, in a sentence; `None` where it recorded itself. Not safe to print.
    pub fn why_outside(&self) -> Option<String> {
        let mut facts = self.facts.iter();
        let (_, why) = facts.find(|(key, _)| key == Self::OUTSIDE_BECAUSE)?;
        Some(format!("Sampled from outside, the program recorded nothing itself: {why}"))
    }

    pub(super) fn new(run: &Run) -> Self {
        let info = &run.info;
        let known = |text: &String| (!text.is_empty()).then(|| text.clone());
        let host = known(&info.host);
        Self {
            id: run_id(run),
            job_id: known(&info.job_id),
            host,
            pid: info.pid,
            rank: info.rank,
            world_size: info.world_size,
            local_rank: info.local_rank,
            command: info.command.clone(),
            start_unix_ns: info.start_unix_ns,
            wall_ns: run.wall_ns,
            before_recording_ns: info.before_recording_ns(),
            clock: known(&info.clock),
            facts: own_facts(&info.facts),
            launch: Launch::of(info),
        }
    }
}

/// All but what stands elsewhere in the report.
fn own_facts(facts: &[(String, String)]) -> Vec<(String, String)> {
    let is_elsewhere = |key: &str| Launch::is_fact(key) || key == RunInfo::BEFORE_RECORDING;
    let own = facts.iter().filter(|(key, _)| !is_elsewhere(key));
    own.cloned().collect()
}

/// Host, process id and start.
pub(crate) fn run_id(run: &Run) -> String {
    let info = &run.info;
    let host = Some(info.host.as_str()).filter(|host| !host.is_empty());
    let host = host.unwrap_or("unknown");
    format!("{host}-{}-{}", info.pid, info.start_unix_ns)
}

impl RunStatus {
    /// Of a status.
    pub fn new(status: &Status) -> Self {
        let of_kind = |kind| Self { kind, signal: None, reason: None, lost: Vec::new() };
        match status {
            Status::Running => of_kind(StatusKind::Running),
            Status::Finished => of_kind(StatusKind::Finished),
            Status::EndedWithoutClosing => of_kind(StatusKind::EndedWithoutClosing),
            Status::Failed(reason) => {
                Self { reason: Some(reason.clone()), ..of_kind(StatusKind::Failed) }
            }
            Status::OutOfMemory(reason) => {
                Self { reason: Some(reason.clone()), ..of_kind(StatusKind::OutOfMemory) }
            }
            Status::Killed(signal) => Self { signal: Some(*signal), ..of_kind(StatusKind::Killed) },
        }
    }

    /// It will not go on.
    pub fn has_ended(&self) -> bool {
        self.kind != StatusKind::Running
    }

    /// `load.py (pid 7) in decode ended without closing its capture`; `None` where no process was lost. Not safe to print.
    pub fn lost_text(&self) -> Option<String> {
        let (first, others) = self.lost.split_first()?;
        Some(match others.len() as u64 {
            0 => format!("{first} ended without closing its capture"),
            n => {
                let more = counted(n, "more process", "more processes");
                format!("{first} and {more} ended without closing their captures")
            }
        })
    }

    /// One sentence fragment; the reason in it is as the user gave it.
    pub fn text(&self) -> String {
        let lost = self.lost_text();
        let lost = lost.map(|lost| format!("; {lost}")).unwrap_or_default();
        self.own_text() + &lost
    }

    fn own_text(&self) -> String {
        let reason = self.reason.as_deref().filter(|reason| !reason.is_empty());
        match self.kind {
            StatusKind::Running => "running when it was read".into(),
            StatusKind::Finished => "finished".into(),
            StatusKind::Failed => format!("failed: {}", reason.unwrap_or("no reason given")),
            StatusKind::OutOfMemory => match reason {
                Some(reason) => format!("out of memory: {reason}"),
                None => "out of memory".into(),
            },
            StatusKind::Killed => match self.signal {
                Some(signal) => format!("killed by {}", signal_text(signal)),
                None => "killed".into(),
            },
            StatusKind::EndedWithoutClosing => "ended without closing its capture".into(),
        }
    }
}
