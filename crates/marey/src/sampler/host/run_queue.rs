//! How long threads of the process could have run and had no processor: the second field of `/proc/<pid>/task/<thread>/schedstat`.
//!
//! The kernel's pressure is of the whole machine; this is of the process, so that what others do to each other is not in it. What a thread
//! waited between the last look at it and its end is not known. The recorder's own threads wait for nothing of the program's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::catalogue::{Catalogue, Part, Round, Slot};
use super::fields::{fields, number, whole};
use super::kept_file::{Buffer, KeptFile};
use super::pace::Pace;
use crate::folder::names_in;
use crate::series::Unit;

const WHAT: &str = "process.cpu.wait";
/// How the names of the recorder's threads begin.
const OWN_THREADS: &[u8] = b"marey-";
/// Each has an open file.
const MAX_THREADS: usize = 512;

struct RunQueue {
    folder: PathBuf,
    threads: BTreeMap<u32, Thread>,
    /// Seconds of threads that have ended.
    ended_s: f64,
    are_too_many: bool,
    /// For looking at the list of threads.
    pace: Pace,
    /// Threads that the machine had started when these were looked for.
    n_started: Option<f64>,
    slot: Slot,
}

struct Thread {
    file: KeptFile,
    waited_s: f64,
}

/// Opens it.
pub(super) fn open(catalogue: &mut Catalogue<'_>, parts: &mut Vec<Box<dyn Part>>) {
    let path = catalogue.process_file("schedstat");
    let Some((_, text)) = catalogue.open(&path, WHAT, "") else {
        return;
    };
    if waited_s(&text).is_none() {
        catalogue.lacks(WHAT, "this kernel does not count it");
        return;
    }
    parts.push(Box::new(RunQueue {
        folder: catalogue.process_file("task"),
        threads: BTreeMap::new(),
        ended_s: 0.0,
        are_too_many: false,
        pace: Pace::of_seconds(),
        n_started: None,
        slot: catalogue.cumulative(WHAT, "", Unit::Seconds),
    }));
}

/// Nanoseconds on a processor, nanoseconds of waiting for one, turns.
fn waited_s(text: &[u8]) -> Option<f64> {
    let waited = fields(text.trim_ascii_end()).nth(1)?;
    Some(number(waited)? / 1e9)
}

impl RunQueue {
    /// Looks for new threads, if the machine has started any since.
    fn look(&mut self, round: &Round<'_>) {
        let is_known = round.n_started.is_some() && round.n_started == self.n_started;
        if is_known {
            return;
        }
        let mut pace = self.pace;
        if let Some(found) = pace.keep(round.now_ns, || self.find_threads()) {
            self.n_started = round.n_started;
            self.are_too_many = found.is_none();
        }
        self.pace = pace;
    }

    /// Opens the files of threads that are new. `None` when there are too many, or when the process has ended.
    fn find_threads(&mut self) -> Option<()> {
        for name in names_in(&self.folder).ok()? {
            let folder = self.folder.join(&name);
            let Some(id) = whole(name.as_encoded_bytes()).and_then(|id| u32::try_from(id).ok())
            else {
                continue;
            };
            if self.threads.contains_key(&id) {
                continue;
            }
            if self.threads.len() >= MAX_THREADS {
                return None;
            }
            let name = std::fs::read(folder.join("comm")).unwrap_or_default();
            if name.starts_with(OWN_THREADS) {
                continue;
            }
            if let Some(file) = KeptFile::open_unread(&folder.join("schedstat")) {
                let waited_s = 0.0;
                self.threads.insert(id, Thread { file, waited_s });
            }
        }
        Some(())
    }

    /// Seconds of all threads.
    fn total_s(&mut self, buffer: &mut Buffer) -> f64 {
        let mut total_s = 0.0;
        self.threads.retain(|_, thread| {
            let waited = thread.file.read(buffer).and_then(waited_s);
            let Some(waited_s) = waited else {
                self.ended_s += thread.waited_s;
                return false;
            };
            thread.waited_s = waited_s;
            total_s += waited_s;
            true
        });
        total_s + self.ended_s
    }
}

impl Part for RunQueue {
    fn pace(&self) -> Pace {
        Pace::of_counters()
    }

    fn read(&mut self, round: &mut Round<'_>) -> Option<()> {
        // Before new ones are looked for: the number of one that ended may be another's now.
        self.total_s(round.buffer);
        self.look(round);
        if self.are_too_many {
            return None;
        }
        let total_s = self.total_s(round.buffer);
        self.slot.put(round.values, total_s);
        Some(())
    }
}
