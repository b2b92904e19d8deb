//! The processes of a job: found, looked at again and again, and kept when they die.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use marey::live::{Live, Look, Process};
use marey_report::fleet::{self, Fleet, Member, MemberLabels};

use super::super::job::Job;
use crate::run_folder::captures;

/// Processes that are looked at; more are counted.
const MAX_MEMBERS: usize = 256;
/// A capture without a process that was opened just now may get one.
const SETTLED_AFTER: Duration = Duration::from_secs(10);

/// The processes of a job.
#[derive(Debug)]
pub(super) struct Members {
    folder: PathBuf,
    job_id: String,
    host: String,
    /// Captures that need no second thought.
    settled: HashSet<PathBuf>,
    watched: Vec<Watched>,
    left_out: u64,
}

#[derive(Debug)]
struct Watched {
    process: Process,
    live: Live,
    /// The last look at a process that is over.
    last: Option<Look>,
}

impl Members {
    /// Those of a job that is about to run; none is looked at yet.
    pub(super) fn of(job: &Job) -> Self {
        Self {
            folder: job.folder.clone(),
            job_id: job.id().to_owned(),
            host: host(),
            settled: job.earlier.iter().cloned().collect(),
            watched: Vec::new(),
            left_out: 0,
        }
    }

    /// Name of the machine, and of the job.
    #[cfg(feature = "otlp")]
    pub(super) fn place(&self) -> (String, String) {
        (self.host.clone(), self.job_id.clone())
    }

    /// Finds what is new, and looks at every process that is not over. Costs some hundred microseconds a process.
    pub(super) fn look(&mut self) -> Fleet {
        self.find();
        let looks: Vec<Look> = self.watched.iter_mut().map(Watched::look).collect();
        let members: Vec<Member<'_>> = self
            .watched
            .iter()
            .zip(&looks)
            .map(|(watched, look)| Member {
                labels: MemberLabels {
                    rank: watched.process.rank,
                    pid: watched.process.pid(),
                },
                start_unix_ns: watched.process.start_unix_ns,
                look,
            })
            .collect();
        fleet::observe(&self.host, &self.job_id, &members, self.left_out)
    }

    /// Finds what is new.
    pub(super) fn find(&mut self) {
        for capture in captures(&self.folder).unwrap_or_default() {
            if self.settled.contains(&capture) {
                continue;
            }
            // One that is complete has none; but what was opened just now comes again.
            let Some(process) = Process::of_capture(&capture) else {
                if is_old(&capture) {
                    self.settled.insert(capture);
                }
                continue;
            };
            if self.watched.len() >= MAX_MEMBERS && !self.forget_one_that_is_over() {
                self.left_out = self.left_out.saturating_add(1);
                self.settled.insert(capture);
                continue;
            }
            if let Some(live) = Live::attach(&process.folder) {
                self.settled.insert(capture);
                self.watched.push(Watched {
                    process,
                    live,
                    last: None,
                });
            }
        }
        self.watched
            .sort_by_key(|watched| watched.process.start_unix_ns);
    }

    /// Makes room for a new one: whoever was over first goes.
    fn forget_one_that_is_over(&mut self) -> bool {
        let over = self.watched.iter().position(|w| w.last.is_some());
        if let Some(over) = over {
            self.watched.remove(over);
        }
        over.is_some()
    }
}

impl Watched {
    fn look(&mut self) -> Look {
        if let Some(last) = &self.last {
            return last.clone();
        }
        if self.process.start_unix_ns.is_none() {
            self.process = self.live.process();
        }
        let look = self.live.look();
        if !look.is_running() {
            self.last = Some(look.clone());
        }
        look
    }
}

/// Nothing has been written to it for a while: it is complete and stays so.
fn is_old(capture: &Path) -> bool {
    let written = capture.metadata().and_then(|file| file.modified());
    let age = written.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > SETTLED_AFTER)
}

/// Name of this machine; empty when the system does not say.
fn host() -> String {
    let name = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    String::from_utf8_lossy(name.trim_ascii()).into_owned()
}
