//! The processes that are watched: found, looked at again and again, and kept when they die.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use marey::live::{Live, Process};

use super::shown::Shown;
use super::target::Target;
use crate::run_folder::captures;
use crate::shown_path::shown;

/// Dead processes that stay on the screen.
const MAX_DEAD: usize = 32;

/// Everything that is watched.
pub(super) struct Watch {
    target: Target,
    roots: Vec<PathBuf>,
    /// Folders of rings, and captures, that need no second thought.
    settled: HashSet<PathBuf>,
    watched: Vec<Watched>,
    is_first: bool,
    /// Something lies below the roots that is not of this version.
    sees_others: bool,
}

struct Watched {
    live: Live,
    shown: Shown,
}

impl Watch {
    /// Nothing is looked at yet.
    pub(super) fn new(target: Target) -> Self {
        Self {
            target,
            roots: roots(),
            settled: HashSet::new(),
            watched: Vec::new(),
            is_first: true,
            sees_others: false,
        }
    }

    /// Finds what is new, and looks at every process.
    pub(super) fn refresh(&mut self) {
        self.find();
        for Watched { live, shown } in &mut self.watched {
            let was_running = shown.is_running();
            if was_running && shown.process.capture.is_none() {
                shown.process = live.process();
            }
            shown.process.rank = live.said_rank().or(shown.process.rank);
            shown.take(live.look());
        }
        self.forget_old_dead();
        self.sort();
    }

    /// What is to be shown, in order.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Shown> {
        self.watched.iter().map(|watched| &watched.shown)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.watched.is_empty()
    }

    /// Why there is nothing to show, with what to do.
    pub(super) fn nothing(&self) -> String {
        let others = if self.sees_others {
            "; what another version of Marey records, only that version can show"
        } else {
            ""
        };
        match &self.target {
            Target::All => format!(
                "no process of this user records; start one with `marey run -- PROGRAM`{others}"
            ),
            Target::Pid(pid) => {
                format!("process {pid} does not record; `marey top` shows those that do{others}")
            }
            Target::Job(path) | Target::Capture(path) => {
                let path = shown(path);
                format!(
                    "nothing records into {path} any more; `marey report {path}` shows what was recorded"
                )
            }
        }
    }

    fn find(&mut self) {
        let found = match &self.target {
            Target::Job(folder) => self.of_job(&folder.clone()),
            Target::Capture(capture) if self.is_first => {
                Process::of_capture(capture).into_iter().collect()
            }
            Target::All | Target::Pid(_) | Target::Capture(_) => self.below_roots(),
        };
        let new: Vec<Process> = found
            .into_iter()
            .filter(|process| self.settled.insert(process.folder.clone()) && self.wants(process))
            .collect();
        for process in new {
            if let Some(live) = Live::attach(&process.folder) {
                let shown = Shown::new(process);
                self.watched.push(Watched { live, shown });
            }
        }
        if self.is_first && matches!(self.target, Target::Capture(_)) {
            // What is there already is not what comes later.
            let others = self.below_roots();
            self.settled
                .extend(others.into_iter().map(|process| process.folder));
        }
        self.is_first = false;
    }

    /// Whether a process that was not seen before is to be watched.
    fn wants(&self, process: &Process) -> bool {
        let is_later = || {
            let mut jobs = self
                .watched
                .iter()
                .filter_map(|w| job_folder(&w.shown.process));
            !self.is_first && jobs.any(|job| Some(job) == job_folder(process))
        };
        match &self.target {
            Target::All => process.is_alive != Some(false),
            Target::Pid(pid) => [process.identity.pid, process.pid()].contains(pid) || is_later(),
            Target::Job(_) => true,
            Target::Capture(_) => self.is_first || is_later(),
        }
    }

    /// Processes below the roots that were not seen before.
    fn below_roots(&mut self) -> Vec<Process> {
        let mut found = Vec::new();
        for root in &self.roots {
            for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
                let folder = entry.path();
                if !self.settled.contains(&folder) {
                    // One that is being made comes again.
                    match Process::at(&folder) {
                        Some(process) => found.push(process),
                        None => self.sees_others |= folder.join("process").exists(),
                    }
                }
            }
        }
        found
    }

    /// Processes that write, or died over, the captures of a job that were not seen before.
    fn of_job(&mut self, folder: &Path) -> Vec<Process> {
        let mut found = Vec::new();
        for capture in captures(folder).unwrap_or_default() {
            if self.settled.contains(&capture) {
                continue;
            }
            // One that is complete has none; but what was opened just now comes again.
            if let Some(process) = Process::of_capture(&capture) {
                self.settled.insert(capture);
                found.push(process);
            }
        }
        found
    }

    fn forget_old_dead(&mut self) {
        let is_dead = |watched: &Watched| !watched.shown.is_running();
        let mut n_dead = self
            .watched
            .iter()
            .filter(|watched| is_dead(watched))
            .count();
        // They are sorted newest first.
        for at in (0..self.watched.len()).rev() {
            if n_dead > MAX_DEAD && is_dead(&self.watched[at]) {
                self.watched.remove(at);
                n_dead -= 1;
            }
        }
    }

    /// Jobs that run before others, then the newest first; within one by rank, then by start.
    fn sort(&mut self) {
        let newest_of = |job: &Process| {
            let of_job = self.watched.iter().map(|w| &w.shown);
            let same = of_job.filter(|shown| same_job(&shown.process, job));
            same.map(|shown| (shown.is_running(), shown.process.start_unix_ns))
                .max()
        };
        let keys: Vec<_> = self
            .watched
            .iter()
            .map(|w| newest_of(&w.shown.process))
            .collect();
        let watched = std::mem::take(&mut self.watched);
        let mut keyed: Vec<_> = keys.into_iter().zip(watched).collect();
        keyed.sort_by_cached_key(|(newest, watched)| {
            let process = &watched.shown.process;
            let place = (process.rank, process.start_unix_ns, process.pid());
            (
                Reverse(*newest),
                job_folder(process).map(Path::to_owned),
                place,
            )
        });
        self.watched = keyed.into_iter().map(|(_, watched)| watched).collect();
    }
}

/// Where recorders put their rings: the configured place or the usual one, and below the output folder when those had no room.
fn roots() -> Vec<PathBuf> {
    let configured = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let rings = configured("MAREY_RING_DIR")
        .map(PathBuf::from)
        .or_else(marey::ring_root);
    let out = configured("MAREY_OUTPUT_DIR").map_or_else(marey::default_output_dir, PathBuf::from);
    rings
        .into_iter()
        .chain([out.join(".marey-rings")])
        .collect()
}

/// The folder that a process's capture lies in, which is its job's.
fn job_folder(process: &Process) -> Option<&Path> {
    process.capture.as_deref()?.parent()
}

fn same_job(one: &Process, other: &Process) -> bool {
    match (job_folder(one), job_folder(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one.folder == other.folder,
    }
}
