//! How long threads of the process could have run and had no processor: the second field of `/proc/<pid>/task/<thread>/schedstat`.
//!
//! The kernel's pressure is of the whole machine; this is of the process, so that what others do to each other is not in it. What a thread
//! waited between the last look at it and its end is not known. The recorder's own threads wait for nothing of the program's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::catalogue::Catalogue;
use super::fields::nth;
use super::kept_file::{Buffer, KeptFile};
use super::pace::Pace;
use super::process::Newcomers;
use super::table::Switch;
use crate::series::{SeriesInfo, Unit};

const WHAT: &str = "process.cpu.wait";
/// How the names of the recorder's threads begin.
const OWN_THREADS: &[u8] = b"marey-";
/// Each has an open file.
const MAX_THREADS: usize = 512;

#[derive(Default)]
struct RunQueue {
    folder: PathBuf,
    /// Each with what it waited when it was read last.
    threads: BTreeMap<u32, (KeptFile, f64)>,
    /// Seconds of threads that have ended.
    ended_s: f64,
    are_too_many: bool,
}

/// Opens it.
pub(super) fn open(catalogue: &mut Catalogue<'_>) {
    let Some((_, text)) = catalogue.open(&catalogue.path("proc/<pid>/schedstat"), WHAT, "") else {
        return;
    };
    if waited_s(&text).is_none() {
        catalogue.lacks(WHAT, "this kernel does not count it");
        return;
    }
    let folder = catalogue.path("proc/<pid>/task");
    let mut newcomers = Newcomers::of(folder.clone());
    let mut queue = RunQueue { folder, ..RunQueue::default() };
    let slot = catalogue.series(Switch::Cpu, SeriesInfo::cumulative(WHAT, "", Unit::Seconds));
    catalogue.part(Pace::of_counters(), move |round| {
        // Before new ones are looked for: the number of one that ended may be another's now.
        queue.total_s(round.buffer);
        newcomers.look(round, queue.are_too_many, |ids, _| {
            queue.are_too_many = queue.follow(ids).is_none();
        });
        if queue.are_too_many {
            return None;
        }
        slot.put(round.values, queue.total_s(round.buffer));
        Some(())
    });
}

/// Nanoseconds on a processor, nanoseconds of waiting for one, turns.
fn waited_s(text: &[u8]) -> Option<f64> {
    Some(nth(text, 1)? / 1e9)
}

impl RunQueue {
    /// Opens the files of threads that are new. `None` when there are too many.
    fn follow(&mut self, ids: &mut dyn Iterator<Item = u32>) -> Option<()> {
        for id in ids {
            if self.threads.contains_key(&id) {
                continue;
            }
            if self.threads.len() >= MAX_THREADS {
                return None;
            }
            if let Some(file) = open_thread(&self.folder.join(id.to_string())) {
                self.threads.insert(id, (file, 0.0));
            }
        }
        Some(())
    }

    /// Seconds of all threads.
    fn total_s(&mut self, buffer: &mut Buffer) -> f64 {
        let mut total_s = 0.0;
        self.threads.retain(|_, (file, known_s)| {
            let waited = file.read(buffer).and_then(waited_s);
            match waited {
                Some(waited_s) => {
                    *known_s = waited_s;
                    total_s += waited_s;
                }
                None => self.ended_s += *known_s,
            }
            waited.is_some()
        });
        total_s + self.ended_s
    }
}

/// `None` for a thread of the recorder.
fn open_thread(folder: &Path) -> Option<KeptFile> {
    let name = std::fs::read(folder.join("comm")).unwrap_or_default();
    if name.starts_with(OWN_THREADS) {
        return None;
    }
    KeptFile::open_unread(&folder.join("schedstat"))
}
