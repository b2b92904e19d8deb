//! The folder with a process's shared files: where other processes find its rings.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::identity::{Identity, forked_from, is_alive};
use super::mapping::{Mapping, free_bytes};
use crate::capture::{self, Leftover};
use crate::clock::unix_ns;
use crate::descriptors::open_plain;
use crate::folder::{self, names_in};
use crate::private_files;

/// Folders of one user's recording processes: `/dev/shm/marey-<uid>`. `None` when there is no `/dev/shm`.
pub fn ring_root() -> Option<PathBuf> {
    let uid = std::fs::metadata("/proc/self").ok()?.uid();
    let shm = Path::new("/dev/shm");
    shm.is_dir().then(|| shm.join(format!("marey-{uid}")))
}

/// Of what is free where rings lie, a process takes one part in so many: the rest is for the program, whose own shared memory
/// (loaders of data, collectives) often lies there, too.
const SHARE: u64 = 10;

/// A folder of this process's own, in the first place that takes one: as configured, `/dev/shm`, the output folder. Without any, rings lie
/// in private memory.
#[derive(Debug, Default)]
pub(crate) struct RingFolder {
    path: Option<PathBuf>,
    /// Bytes of the files in it.
    held_bytes: u64,
    /// Tried in this order when a file finds no room.
    candidates: Vec<PathBuf>,
}

impl RingFolder {
    /// Chooses the places; the folder itself is made with its first file.
    pub(crate) fn make(configured: Option<&Path>, output_dir: Option<&Path>) -> Self {
        let root = match configured {
            Some(dir) => Some(dir.to_owned()),
            None => ring_root(),
        };
        let fallback = output_dir.map(|dir| dir.join(".marey-rings"));
        Self { path: None, held_bytes: 0, candidates: root.into_iter().chain(fallback).collect() }
    }

    /// Where the files are; `None` when they are in private memory.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Makes the `process` file, with space for its first words, in the first place with room; private memory otherwise.
    pub(crate) fn process(&mut self, n_words: usize, n_reserved: usize) -> io::Result<Mapping> {
        let make = |path: &Path| Mapping::in_file(path, n_words, n_reserved);
        let made = self.in_first_place(n_reserved, make);
        made.map_or_else(|| Mapping::private(n_words), Ok)
    }

    /// As [`Self::process`], for a mapping that exists.
    pub(crate) fn move_process(&mut self, mapping: Mapping, n_reserved: usize) {
        self.in_first_place(n_reserved, |path| mapping.move_to_file(path, n_reserved));
    }

    fn in_first_place<T>(
        &mut self,
        n_words: usize,
        make: impl Fn(&Path) -> io::Result<T>,
    ) -> Option<T> {
        for root in std::mem::take(&mut self.candidates) {
            let Ok(folder) = new_folder(&root) else {
                continue;
            };
            if let Some(made) = self.grow(&folder, n_words, || make(&folder.join("process"))) {
                self.path = Some(folder);
                return Some(made);
            }
            std::fs::remove_dir(&folder).ok();
        }
        None
    }

    /// Gives more words of the `process` file their space; false when there is none for them. Private memory has it.
    pub(crate) fn more_of_process(&mut self, mapping: Mapping, words: Range<usize>) -> bool {
        let Some(folder) = self.path.clone() else {
            return true;
        };
        let more = || mapping.reserve_more(&folder.join("process"), words.clone());
        self.grow(&folder, words.len(), more).is_some()
    }

    /// A lane's file; `None` when there is no folder or no room.
    pub(crate) fn lane(&mut self, id: u32, n_words: usize) -> Option<Mapping> {
        let folder = self.path.clone()?;
        let make = || Mapping::in_file(&lane_path(&folder, id), n_words, n_words);
        self.grow(&folder, n_words, make)
    }

    /// Moves a lane that exists into a file; false when it stays private.
    pub(crate) fn move_lane(&mut self, id: u32, mapping: Mapping) -> bool {
        let Some(folder) = self.path.clone() else {
            return false;
        };
        let n_words = mapping.words().len();
        let make = || mapping.move_to_file(&lane_path(&folder, id), n_words);
        self.grow(&folder, n_words, make).is_some()
    }

    /// Takes so many words more, within this process's share of what is free in the folder.
    fn grow<T>(
        &mut self,
        folder: &Path,
        n_words: usize,
        make: impl FnOnce() -> io::Result<T>,
    ) -> Option<T> {
        let (more, held) = (n_words as u64 * 8, self.held_bytes);
        let share = free_bytes(folder)?.saturating_add(held) / SHARE;
        if held + more > share {
            return None;
        }
        let made = make().ok()?;
        self.held_bytes += more;
        Some(made)
    }

    /// Removes the files. What is mapped stays readable for this process.
    pub(crate) fn remove(&mut self) {
        if let Some(path) = self.path.take() {
            remove(&path);
        }
        self.held_bytes = 0;
    }

    /// Leaves the files to another process.
    pub(crate) fn forget(&mut self) {
        self.path = None;
        self.held_bytes = 0;
    }
}

fn lane_path(folder: &Path, id: u32) -> PathBuf {
    folder.join(format!("lane-{id}"))
}

/// Most folders that a start looks into.
const MAX_SWEPT: usize = 256;

/// Making rings takes milliseconds; a process of another container, whose pid means nothing here, has this long for it.
const UNFINISHED_AFTER_S: u64 = 60;

/// Removes what dead processes left below a root that has no capture to go to, because they recorded in memory.
fn sweep(root: &Path) {
    for name in names_in(root).into_iter().flatten().take(MAX_SWEPT) {
        let folder = root.join(name);
        if is_worthless(&folder).or_else(|| is_unfinished(&folder)) == Some(true) {
            folder::remove(&folder).ok();
        }
    }
}

/// Whether a dead process's rings lie there, of a recording in memory. `None` when there are no whole rings.
fn is_worthless(folder: &Path) -> Option<bool> {
    let left = Leftover::at(folder)?;
    Some(left.capture.is_none() && left.is_alive == Some(false))
}

/// Whether a process died there while it made its rings, some time ago, by the name of the folder. Rings of another version are
/// left alone.
fn is_unfinished(folder: &Path) -> Option<bool> {
    let mut magic = [0; 8];
    if let Ok(mut file) = open_plain(OpenOptions::new().read(true), &folder.join("process")) {
        file.read_exact(&mut magic).ok();
    }
    let name = folder.file_name()?.to_str()?;
    let (pid, rest) = name.split_once('-')?;
    let start_time = rest.split('-').next()?.parse().ok()?;
    let maker = Identity { pid: pid.parse().ok()?, start_time, ..Identity::of_this_process() };
    let changed = std::fs::metadata(folder).ok()?.mtime();
    let age_s = (unix_ns() / 1_000_000_000).saturating_sub(u64::try_from(changed).ok()?);
    Some(magic == [0; 8] && age_s > UNFINISHED_AFTER_S && is_alive(&maker) == Some(false))
}

/// Removes a process's shared files, and the folder around them when it was the last.
pub(crate) fn remove(folder: &Path) {
    folder::remove(folder).ok();
    if let Some(root) = folder.parent() {
        std::fs::remove_dir(root).ok();
    }
}

/// `<root>/<pid>-<start time>[-<n>]`, readable by its owner alone. A root that belongs to somebody else is refused, because
/// `/dev/shm` is open to all.
fn new_folder(root: &Path) -> io::Result<PathBuf> {
    make_root(root)?;
    // Children begin often, and their parent has done it.
    if forked_from().is_none() {
        sweep(root);
        capture::make_room(root);
    }
    let me = Identity::of_this_process();
    // The same process can get here again: after an exec, or when it records a second time.
    for n in 1..1000 {
        let suffix = if n == 1 { String::new() } else { format!("-{n}") };
        let folder = root.join(format!("{}-{}{suffix}", me.pid, me.start_time));
        match private_files::new_folder(&folder, 0o700) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // Whoever removed the last folder below the root has removed that, too.
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_root(root)?,
            other => return other.map(|()| folder),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn make_root(root: &Path) -> io::Result<()> {
    if let Some(above) = root.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(above)?;
    }
    match private_files::new_folder(root, 0o700) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let (theirs, mine) = (std::fs::symlink_metadata(root)?, std::fs::metadata("/proc/self")?);
    if !theirs.is_dir() || theirs.uid() != mine.uid() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}
