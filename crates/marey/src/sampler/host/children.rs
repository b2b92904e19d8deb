//! The processes that the process started, and those that they started.
//!
//! The time of a child that ended and was waited for is in its parent's `cutime` and `cstime`; that of a living one in its own `stat`.
//! New ones are looked for in the list of all processes, which every kernel has (`/proc/<pid>/task/*/children` few have, and it takes a file
//! for each thread). Up to 128 are followed; while there are more, nothing is known.

use std::path::PathBuf;

use super::catalogue::Catalogue;
use super::fields::{fields, whole};
use super::kept_file::{Buffer, KeptFile};
use super::pace::Pace;
use super::process::{Newcomers, ProcessStat};
use super::table::Switch;
use crate::series::{SeriesInfo, Unit};

/// Each has an open file, and threads may have 1 024 of those, mostly.
const MAX_FOLLOWED: usize = 128;

/// The living descendants of a process.
struct Children {
    proc_folder: PathBuf,
    /// Of the process itself.
    pid: u32,
    /// Parents before their children.
    living: Vec<Child>,
    /// All processes that were looked at, sorted: whose child one is does not change without its being seen here.
    known: Vec<u32>,
    /// Seconds of those that ended after they had lost their parent: nobody's `cutime` has them.
    abandoned: f64,
    are_too_many: bool,
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
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    let path = catalogue.path("proc/<pid>/stat");
    let what = "children.cpu.time, children.memory.resident";
    let Some((process, text)) = catalogue.open(&path, what, "") else {
        return;
    };
    let pid = fields(&text).next().and_then(whole);
    let Some(pid) = pid.and_then(|pid| u32::try_from(pid).ok()) else {
        catalogue.lacks(what, &format!("{} is not understood", path.display()));
        return;
    };
    let proc_folder = catalogue.path("proc");
    let mut newcomers = Newcomers::of(proc_folder.clone());
    let mut children = Children {
        proc_folder,
        pid,
        living: Vec::new(),
        known: Vec::new(),
        abandoned: 0.0,
        are_too_many: false,
    };
    let time = catalogue
        .series(Switch::Cpu, SeriesInfo::cumulative("children.cpu.time", "", Unit::Seconds));
    let resident = catalogue
        .series(Switch::Memory, SeriesInfo::gauge("children.memory.resident", "", Unit::Bytes));
    catalogue.part(Pace::of_file(), move |round| {
        // Before its children: one that ends in between is missing once, and not counted twice.
        let reaped = ProcessStat::of(process.read(round.buffer)?)?.reaped;
        newcomers.look(round, children.are_too_many, |pids, buffer| children.look(pids, buffer));
        let (seconds, bytes) = children.read(round.buffer);
        if !children.are_too_many {
            time.put(round.values, reaped + seconds);
            resident.put(round.values, bytes);
        }
        Some(())
    });
}

impl Children {
    /// Seconds of all that live and of the abandoned, and resident bytes.
    fn read(&mut self, buffer: &mut Buffer) -> (f64, f64) {
        let (mut seconds, mut resident) = (0.0, 0.0);
        let mut at = 0;
        while at < self.living.len() {
            let child = &self.living[at];
            let stat = child.file.read(buffer).and_then(ProcessStat::of);
            let stat = stat.filter(|stat| stat.start_time == child.start_time);
            let Some(stat) = stat else {
                self.forget(at);
                continue;
            };
            if child.parent != stat.parent {
                let is_orphan = !self.follows(stat.parent);
                let child = &mut self.living[at];
                (child.parent, child.is_orphan) = (stat.parent, is_orphan);
            }
            let used = stat.user + stat.system + stat.reaped;
            self.living[at].seconds = used;
            seconds += used;
            resident += stat.resident_bytes;
            at += 1;
        }
        (seconds + self.abandoned, resident)
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

    /// Looks for new ones among all processes.
    fn look(&mut self, pids: &mut dyn Iterator<Item = u32>, buffer: &mut Buffer) {
        if std::mem::take(&mut self.are_too_many) {
            self.known.clear();
        }
        let mut listed: Vec<u32> = Vec::with_capacity(self.known.len() + 16);
        let mut new: Vec<(u32, u32)> = Vec::new();
        for pid in pids {
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
