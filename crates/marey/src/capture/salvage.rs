//! Completes the captures of processes that died: what is left in their rings goes to the capture, then the rings are removed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::encode::Encode;
use super::reader::{behind_header, ending};
use super::rings::Rings;
use crate::clock::{monotonic_ns, unix_ns};
use crate::folder::names_in;
use crate::recorder::{Identity, is_alive, remove_ring_folder};
use crate::run::Status;

/// Rings that lie around: of a running process, or left behind by a dead one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Their folder.
    pub folder: PathBuf,
    /// Whose they are.
    pub identity: Identity,
    /// The capture that they belong to; `None` when it was in memory.
    pub capture: Option<PathBuf>,
    /// Whether the process runs; `None` when this machine cannot tell.
    pub is_alive: Option<bool>,
    /// Whether a `marey run` waits for the process: it learns how that ended, and completes its capture.
    pub is_waited_for: bool,
}

/// All rings of this user below a root such as [`crate::ring_root`], by folder name. Shared memory is open to all, so what
/// belongs to somebody else is not looked at.
pub fn leftovers(root: &Path) -> Vec<Leftover> {
    own_folders(root).iter().filter_map(|folder| Leftover::at(folder)).collect()
}

/// Folders of this user below a root, by name, in which rings of this user may lie.
pub(crate) fn own_folders(root: &Path) -> Vec<PathBuf> {
    let names = names_in(root).into_iter().flatten();
    let mut folders: Vec<PathBuf> =
        names.map(|name| root.join(name)).filter(|folder| has_own(folder)).collect();
    folders.sort();
    folders
}

/// Whether a folder, and what is to be rings in it, belong to this user.
pub(crate) fn has_own(folder: &Path) -> bool {
    is_own(folder) && is_own(&folder.join("process"))
}

/// Completes the captures of all dead processes below a root, as `status` says they ended. Returns those captures.
pub fn close_leftovers(root: &Path, status: impl Fn(&Identity) -> Status) -> Vec<PathBuf> {
    let dead = leftovers(root).into_iter().filter(|leftover| leftover.is_alive == Some(false));
    dead.filter_map(|leftover| leftover.close(&status(&leftover.identity)).ok().flatten()).collect()
}

/// Most captures that are completed in passing.
const MAX_ABANDONED: usize = 16;
/// Most of them before a start takes rings of its own: a program that is killed and started again and again leaves one each time.
const MAX_BEFORE_A_START: usize = 4;
/// Most folders that are looked into for them.
const MAX_SEEN: usize = 256;

/// Whoever looks at a process that has just died finds what that left.
const LOOKED_AT_FOR_S: u64 = 60;

/// Completes captures of dead processes below a root that nobody waits for and that nothing was written to for a minute, and removes their
/// rings; 16 at most.
pub fn close_abandoned(root: &Path) {
    abandoned(root).filter(Leftover::is_old).for_each(|left| left.close_unseen());
}

/// As [`close_abandoned`], of any age, 4 at most.
pub(crate) fn make_room(root: &Path) {
    abandoned(root).take(MAX_BEFORE_A_START).for_each(|left| left.close_unseen());
}

/// How long children that were forked are looked after: who is killed at once is forked again at once.
const LOOKS_AFTER_NS: u64 = 2_000_000_000;
/// Time between two looks.
const LOOK_EVERY_NS: u64 = 200_000_000;

/// As [`close_abandoned`], of any age, a capture at a time, again and again while children are forked.
#[derive(Debug, Default)]
pub(crate) struct Abandoned {
    found: std::vec::IntoIter<Leftover>,
    has_looked: bool,
    next_ns: u64,
    until_ns: u64,
}

impl Abandoned {
    /// A child was forked: it may take the place of one that died.
    pub(crate) fn forked(&mut self) {
        self.until_ns = monotonic_ns().saturating_add(LOOKS_AFTER_NS);
    }

    /// Completes the next capture; looks for some first, if it is time to. Whether there was one.
    pub(crate) fn close_next(&mut self, root: &Path) -> bool {
        let now_ns = monotonic_ns();
        let is_time = now_ns >= self.next_ns && self.next_ns <= self.until_ns;
        if self.found.len() == 0 && (is_time || !self.has_looked) {
            self.has_looked = true;
            self.next_ns = now_ns.saturating_add(LOOK_EVERY_NS);
            self.found = abandoned(root).collect::<Vec<_>>().into_iter();
        }
        self.found.next().map(|left| left.close_unseen()).is_some()
    }
}

/// Whether there is such a process; one that has ended and was not waited for is none.
fn runs(pid: u32) -> bool {
    let me = Identity::of_this_process();
    let start_time = crate::recorder::start_time(pid);
    start_time.is_some_and(|start_time| is_alive(&Identity { pid, start_time, ..me }) == Some(true))
}

fn abandoned(root: &Path) -> impl Iterator<Item = Leftover> {
    let names = names_in(root).into_iter().flatten().take(MAX_SEEN);
    names
        .map(|name| root.join(name))
        .filter(|folder| is_own(folder))
        .filter_map(|folder| Leftover::at(&folder))
        .filter(Leftover::is_abandoned)
        .take(MAX_ABANDONED)
}

/// Whether a file or folder, itself and not what it points to, belongs to this user.
fn is_own(path: &Path) -> bool {
    let owner = std::fs::symlink_metadata(path).map(|path| path.uid());
    // The link `/proc/self` is root's, what it points to is this user's.
    let own = std::fs::metadata("/proc/self").map(|process| process.uid());
    matches!((owner, own), (Ok(owner), Ok(own)) if owner == own)
}

impl Leftover {
    /// The rings in a folder; `None` when there are none of this version.
    pub fn at(folder: &Path) -> Option<Self> {
        let rings = Rings::without_lanes(folder)?;
        let identity = rings.identity();
        let is_alive = is_alive(&identity);
        Some(Self {
            folder: folder.to_owned(),
            identity,
            capture: rings.capture_path(),
            is_alive,
            is_waited_for: rings.waited_for_by().is_some_and(runs),
        })
    }

    /// Nothing was written to its capture for a while.
    fn is_old(&self) -> bool {
        let written = |capture: &PathBuf| std::fs::metadata(capture).ok()?.mtime().try_into().ok();
        let written_s: u64 = self.capture.as_ref().and_then(written).unwrap_or(0);
        (unix_ns() / 1_000_000_000).saturating_sub(written_s) > LOOKED_AT_FOR_S
    }

    /// Its process is dead, and nobody waits for it.
    fn is_abandoned(&self) -> bool {
        self.is_alive == Some(false) && !self.is_waited_for
    }

    /// Completes the capture of a process whose end nobody saw, if that can be.
    fn close_unseen(&self) {
        self.close(&Status::EndedWithoutClosing).ok();
    }

    /// Completes the capture of a process that is dead and removes its rings. Returns the capture, `None` if there is none.
    ///
    /// # Errors
    /// When the capture cannot be written; the rings stay then, and [`crate::load`] reads both. Also when somebody else is at it.
    pub fn close(&self, status: &Status) -> io::Result<Option<PathBuf>> {
        if is_alive(&self.identity) == Some(true) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        // The lock goes with the file, so of two that come here one finds nothing left.
        let lock = File::open(self.folder.join("process"))?;
        lock.try_lock().map_err(io::Error::from)?;
        let Some(rings) = Rings::read(&self.folder) else {
            return Ok(None);
        };
        if let Some(path) = &self.capture {
            complete(path, &rings, status)?;
        }
        remove_ring_folder(&self.folder);
        Ok(self.capture.clone())
    }
}

/// Cuts off what was being written when the process died, and appends what the rings hold and how it ended.
fn complete(path: &Path, rings: &Rings, status: &Status) -> io::Result<()> {
    match OpenOptions::new().read(true).append(true).open(path) {
        // The user removed it; there is nothing to complete.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        capture => {
            let capture = capture?;
            if !capture.metadata()?.is_file() {
                return Err(io::ErrorKind::InvalidData.into());
            }
            complete_as_read(&capture, BufReader::new(&capture), rings, status)
        }
    }
}

/// As [`complete`], of a capture that is read so.
fn complete_as_read(
    mut capture: &File,
    read: impl Read,
    rings: &Rings,
    status: &Status,
) -> io::Result<()> {
    let blocks = behind_header(read).ok_or(io::ErrorKind::InvalidData)?;
    let (written_by, ended) = ending(blocks)?;
    // Rings name a path, and anybody could have made them: only the capture of that very process is touched.
    if written_by != Some(rings.identity()) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // It died while it removed its rings, or somebody was faster.
    if ended.is_some() {
        return Ok(());
    }
    let length = capture.metadata()?.len();
    let whole = Some(rings.capture_bytes()).filter(|n| (1..length).contains(n));
    let whole = whole.unwrap_or(length);
    capture.set_len(whole)?;
    let mut encode = Encode { bytes: rings.held().blocks };
    encode.end(status);
    capture.write_all(&encode.bytes).inspect_err(|_| {
        capture.set_len(whole).ok();
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::capture::FILE_HEADER;
    use crate::recorder::{LAYOUT_VERSION, PROCESS_MAGIC, ProcessLayout, process_words as at};

    /// A disk that gives no more.
    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(libc::EIO))
        }
    }

    /// Rings of nobody, without anything in them, and the capture that belongs to them.
    fn left_behind(folder: &Path) -> (Rings, File) {
        let process = File::create_new(folder.join("process")).unwrap();
        process.set_len(ProcessLayout::new([0; 6]).end as u64 * 8).unwrap();
        for (word, value) in [(at::MAGIC, PROCESS_MAGIC), (at::VERSION, LAYOUT_VERSION)] {
            process.write_all_at(&value.to_le_bytes(), word as u64 * 8).unwrap();
        }
        let facts = ["pid", "start_time", "boot_id", "pid_namespace"];
        let mut encode = Encode { bytes: FILE_HEADER.to_vec() };
        encode.info(&facts.map(|key| (key.into(), "0".into())));
        std::fs::write(folder.join("capture"), &encode.bytes).unwrap();
        let options = OpenOptions::new().read(true).append(true).open(folder.join("capture"));
        (Rings::read(folder).unwrap(), options.unwrap())
    }

    #[test]
    fn a_capture_that_cannot_be_read_to_its_end_is_not_touched() {
        let place = tempfile::tempdir().unwrap();
        let (rings, capture) = left_behind(place.path());
        let path = place.path().join("capture");
        let before = std::fs::read(&path).unwrap();
        let status = Status::Killed(9);
        let broken = before.as_slice().chain(Broken);
        let stopped = complete_as_read(&capture, broken, &rings, &status).unwrap_err();
        assert_eq!(stopped.raw_os_error(), Some(libc::EIO));
        assert_eq!(std::fs::read(&path).unwrap(), before);
        complete(&path, &rings, &status).unwrap();
        assert_eq!(crate::load(&path).unwrap().status, status);
    }
}
