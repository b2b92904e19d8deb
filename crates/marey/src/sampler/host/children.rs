//! The processes that the process started, and those that they started.
//!
//! The time of a child that ended and was waited for is in its parent's `cutime` and `cstime`; that of a living one in its own `stat`.
//! New ones are looked for once a second, if the machine has started any since, in the list of all processes, which every kernel has (`/proc/<pid>/task/*/children` few have, and it
//! takes a file for each thread). Up to 128 are followed; while there are more, nothing is known.

use std::path::PathBuf;

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{fields, whole};
use super::kept_file::{Buffer, KeptFile};
use super::pace::Pace;
use super::process::ProcessStat;
use crate::folder::names_in;
use crate::series::Unit;

/// Each has an open file, and threads may have 1 024 of those, mostly.
const MAX_FOLLOWED: usize = 128;

/// The living descendants of a process.
struct Children {
    /// Of the process itself, which has the time of those that ended.
    process: KeptFile,
    proc_folder: PathBuf,
    pid: u32,
    /// Parents before their children.
    living: Vec<Child>,
    /// All processes that were looked at, sorted: whose child one is does not change without its being seen here.
    known: Vec<u32>,
    /// Seconds of those that ended after they had lost their parent: nobody's `cutime` has them.
    abandoned: f64,
    are_too_many: bool,
    pace: Pace,
    /// Processes that the machine had started when these were looked for.
    n_started: Option<f64>,
    time: Slot,
    resident: Slot,
}

struct Child {
    pid: u32,
    parent: u32,
    start_time: u64,
    /// Its parent ended, and it was given to one that is not followed.
    is_orphan: bool,
    seconds: f64,
    file: KeptFile,
}

/// Opens what the options ask for.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let path = catalogue.process_file("stat");
    let what = "children.cpu.time, children.memory.resident";
    let Some((file, text)) = catalogue.open(&path, what, "") else {
        return;
    };
    let pid = fields(&text).next().and_then(whole);
    match pid.and_then(|pid| u32::try_from(pid).ok()) {
        Some(pid) => parts.push(Box::new(Children::new(catalogue, file, pid))),
        None => catalogue.lacks(what, &format!("{} is not understood", path.display())),
    }
}

impl Children {
    fn new(catalogue: &mut Catalogue<'_>, process: KeptFile, pid: u32) -> Self {
        let mut children = Self {
            process,
            proc_folder: catalogue.path("proc"),
            pid,
            living: Vec::new(),
            known: Vec::new(),
            abandoned: 0.0,
            are_too_many: false,
            pace: Pace::of_seconds(),
            n_started: None,
            time: Slot::NONE,
            resident: Slot::NONE,
        };
        if catalogue.options.cpu {
            children.time = catalogue.cumulative("children.cpu.time", "", Unit::Seconds);
        }
        if catalogue.options.memory {
            children.resident = catalogue.gauge("children.memory.resident", "", Unit::Bytes);
        }
        children
    }

    fn note_parent(&mut self, at: usize, parent: u32) {
        if self.living[at].parent != parent {
            self.living[at].parent = parent;
            self.living[at].is_orphan = !self.follows(parent);
        }
    }

    fn forget(&mut self, at: usize) {
        let child = self.living.remove(at);
        if child.is_orphan {
            self.abandoned += child.seconds;
        }
        // Its number may be given to another one.
        if let Ok(place) = self.known.binary_search(&child.pid) {
            self.known.remove(place);
        }
    }

    fn follows(&self, pid: u32) -> bool {
        pid == self.pid || self.living.iter().any(|child| child.pid == pid)
    }

    /// Looks for new ones.
    fn look(&mut self, buffer: &mut Buffer) -> Option<()> {
        if std::mem::take(&mut self.are_too_many) {
            self.known.clear();
        }
        let mut listed: Vec<u32> = Vec::with_capacity(self.known.len() + 16);
        let mut new: Vec<(u32, u32)> = Vec::new();
        for name in names_in(&self.proc_folder).ok()? {
            let Some(pid) = whole(name.as_encoded_bytes()).and_then(|pid| u32::try_from(pid).ok())
            else {
                continue;
            };
            listed.push(pid);
            if self.known.binary_search(&pid).is_err() && !self.follows(pid) {
                new.extend(self.child(pid, buffer).map(|child| (pid, child.parent)));
            }
        }
        listed.sort_unstable();
        self.known = listed;
        // Whoever is not in the family stays out; a child can be listed before its parent.
        while let Some(at) = new.iter().position(|(_, parent)| self.follows(*parent)) {
            if self.living.len() == MAX_FOLLOWED {
                self.are_too_many = true;
                break;
            }
            let (pid, _) = new.swap_remove(at);
            self.living.extend(self.child(pid, buffer));
        }
        Some(())
    }

    fn child(&self, pid: u32, buffer: &mut Buffer) -> Option<Child> {
        let path = self.proc_folder.join(pid.to_string()).join("stat");
        let file = KeptFile::open_unread(&path)?;
        let stat = ProcessStat::of(file.read(buffer)?)?;
        Some(Child {
            pid,
            parent: stat.parent,
            start_time: stat.start_time,
            is_orphan: false,
            seconds: 0.0,
            file,
        })
    }
}

impl Part for Children {
    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        // Before its children: one that ends in between is missing once, and not counted twice.
        let reaped = ProcessStat::of(self.process.read(round.buffer)?)?.reaped;
        // Nothing was started, so there is nothing new to find.
        let is_known =
            !self.are_too_many && round.n_started.is_some() && round.n_started == self.n_started;
        if !is_known {
            let (mut pace, n_started) = (self.pace, round.n_started);
            if pace.keep(round.now_ns, || self.look(round.buffer)).is_some() {
                self.n_started = n_started;
            }
            self.pace = pace;
        }
        let mut seconds = reaped;
        let mut resident = 0.0;
        let mut at = 0;
        while at < self.living.len() {
            let stat = self.living[at]
                .file
                .read(round.buffer)
                .and_then(ProcessStat::of)
                .filter(|stat| stat.start_time == self.living[at].start_time);
            if let Some(stat) = stat {
                self.note_parent(at, stat.parent);
                self.living[at].seconds = stat.user + stat.system + stat.reaped;
                seconds += self.living[at].seconds;
                resident += stat.resident_bytes;
                at += 1;
            } else {
                self.forget(at);
            }
        }
        if !self.are_too_many {
            self.time.put(round.values, seconds + self.abandoned);
            self.resident.put(round.values, resident);
        }
        Some(())
    }
}
