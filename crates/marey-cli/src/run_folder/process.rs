//! One process of a job, in a line.

use std::path::Path;

use marey::Run;
use marey_report::{RunStatus, StatusKind, escape, quantity};

use super::outside::is_outside;

/// What a job's list says about one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// File name of its capture.
    pub file: String,
    /// Process id.
    pub pid: u32,
    /// Place in the job; `None` outside a job of several ranks.
    pub rank: Option<u32>,
    /// Host name; `None` when unknown.
    pub host: Option<String>,
    /// Process id of the recording process that it was forked from.
    pub forked_from: Option<u32>,
    /// Command line; not safe to print.
    pub command: Vec<String>,
    /// How it ended.
    pub status: RunStatus,
    /// The section that it began last and had not left at its end, with those around it, outermost first; empty where it was in none.
    pub open: Vec<String>,
    /// Wall clock at its start, nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// From the start to the end, or to the last thing known.
    pub wall_ns: u64,
    /// It did not record itself: `marey run` sampled it from outside.
    pub is_outside: bool,
    /// It recorded nothing but readings that the recorder takes by itself.
    pub is_empty: bool,
}

impl Process {
    pub(super) fn new(capture: &Path, run: &Run) -> Self {
        let info = &run.info;
        let file = capture.file_name().unwrap_or_default();
        let fact = |key: &str| info.facts.iter().rev().find(|(k, _)| k == key);
        Self {
            file: file.to_string_lossy().into_owned(),
            pid: info.pid,
            rank: info.rank,
            host: (!info.host.is_empty()).then(|| info.host.clone()),
            forked_from: fact("forked_from").and_then(|(_, pid)| pid.parse().ok()),
            command: info.command.clone(),
            status: RunStatus::new(&run.ending()),
            open: open(run),
            start_unix_ns: info.start_unix_ns,
            wall_ns: run.wall_ns,
            is_outside: is_outside(info),
            is_empty: is_empty(run),
        }
    }

    /// It ended, and did not close its capture.
    pub(super) fn is_gone(&self) -> bool {
        let kind = self.status.kind;
        matches!(kind, StatusKind::EndedWithoutClosing | StatusKind::Killed)
    }

    /// It is in no section, and no rank, of which each is waited for.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.rank.is_none()
    }

    /// One line for a terminal.
    pub fn line(&self) -> String {
        let mut parts = vec![format!("pid {}", self.pid)];
        parts.extend(self.rank.map(|rank| format!("rank {rank}")));
        parts.extend(self.forked_from.map(|pid| format!("forked from {pid}")));
        parts.push(escape::cut(&self.status.text(), 120));
        parts.push(format!("wall time {}", quantity::duration_ns(self.wall_ns)));
        if self.is_outside {
            parts.push("sampled from outside".into());
        } else if self.is_empty {
            parts.push("recorded nothing".into());
        }
        format!("{}: {}", escape::visible(&self.file), parts.join(", "))
    }
}

fn open(run: &Run) -> Vec<String> {
    let last = run.open.iter().max_by_key(|open| (open.start_ns, open.node));
    let node = |node: u32| run.nodes.get(node as usize);
    let innermost = last.and_then(|open| node(open.node));
    let upwards = std::iter::successors(innermost, |below| node(below.parent?));
    // The root has no parent and no name.
    let names = upwards.filter(|found| found.parent.is_some());
    let mut names: Vec<String> = names.map(|found| found.name.clone()).collect();
    names.reverse();
    names
}

fn is_empty(run: &Run) -> bool {
    run.totals.iter().all(|totals| totals.count == 0)
        && run.open.is_empty()
        && run.sessions.is_empty()
        && run.events.is_empty()
        && run.counters.is_empty()
        && run.cache_events.is_empty()
        && run.generation.is_empty()
        && run.memory.iter().all(|reading| reading.label.is_none())
}
