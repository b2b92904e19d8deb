//! The file of a capture, which more than one thread may write, and into which nothing but the capture goes.
//!
//! The drain thread writes it all the time and keeps it open in its own table of descriptors ([`crate::descriptors`]). Whoever else has
//! something to write (a start, `drain_now`, a program whose threads get no table of their own) opens it by its path for that one write. Both hold the
//! drain's lock:
//!
//! ```text
//! drain thread     open ── write ──── write ──────── write ── …      its own table
//! another thread                open·write·close                     the program's table: nothing stays open there
//! ```
//!
//! A path can come to mean another file, and in the program's table so can a number. So before the first write after each opening, device
//! and inode must be those of the file that was made; where they are not, nothing is written.
//!
//! Who writes past the largest file that a process may write (`ulimit -f`) gets SIGXFSZ, which ends the process unless it is ignored. So the
//! capture stays below, and its last bytes are kept for what ends it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::descriptors::{Kept, are_shared, open_plain, out_of_reach};

/// A capture's file.
#[derive(Debug)]
pub(crate) struct CaptureFile {
    /// Absolute: the program may change its folder.
    path: PathBuf,
    device: u64,
    inode: u64,
    kept: Option<Kept>,
    /// Longest that it may become; the program may lower its limit later. 0 when it cannot be written any more.
    limit: u64,
}

impl CaptureFile {
    /// The file that was just made at a path, and is closed with this.
    pub(crate) fn made(file: &File, path: &Path) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            path: std::path::absolute(path)?,
            device: metadata.dev(),
            inode: metadata.ino(),
            kept: None,
            limit: file_size_limit().unwrap_or(u64::MAX),
        })
    }

    /// Bytes that records may fill: near the limit, the last are kept for what ends the capture.
    pub(crate) fn room_for_records(&self) -> u64 {
        self.limit - self.limit / 8
    }

    /// Where it was made.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the calling thread can write it now: it may have no free descriptor, or the path may lead elsewhere. Another thread, with
    /// descriptors of its own, may be able to.
    pub(crate) fn is_within_reach(&mut self) -> bool {
        self.with(|_| Ok(())).is_ok()
    }

    /// Writes bytes at an offset. After an error some of them may be there.
    pub(crate) fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.with(|file| file.write_all_at(bytes, offset))
    }

    /// Makes it longer by a hole; false when that is not possible.
    pub(crate) fn grow(&mut self, length: u64) -> bool {
        self.may_reach(length) && self.with(|file| file.set_len(length)).is_ok()
    }

    /// Takes back what was written past a length. Where something half-written stays, its end is not known any more: nothing is added to it.
    pub(crate) fn cut_off(&mut self, length: u64) {
        if self.with(|file| file.set_len(length)).is_err() {
            self.limit = 0;
        }
    }

    /// Whether so long a file may be written.
    pub(crate) fn may_reach(&self, length: u64) -> bool {
        length <= self.limit && length <= file_size_limit().unwrap_or(u64::MAX)
    }

    fn with<T>(&mut self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        let open = || {
            let mut file = open_plain(OpenOptions::new().write(true), &self.path)?;
            if are_shared() {
                file = out_of_reach(file);
            }
            let metadata = file.metadata()?;
            let is_it = (metadata.dev(), metadata.ino()) == (self.device, self.inode);
            if is_it { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
        };
        Kept::with(&mut self.kept, open, work)
    }
}

/// The largest file that this process may write, bytes; `None` for no limit, or when it cannot be read. Costs some 10 µs.
pub fn file_size_limit() -> Option<u64> {
    soft_limit(&std::fs::read_to_string("/proc/self/limits").ok()?)
}

fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(folder: &Path) -> CaptureFile {
        let path = folder.join("capture");
        let file = File::create_new(&path).unwrap();
        CaptureFile::made(&file, &path).unwrap()
    }

    #[test]
    fn a_file_in_its_place_gets_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = capture(folder.path());
        capture.write_at(b"ours", 0).unwrap();
        std::fs::rename(capture.path(), folder.path().join("moved")).unwrap();
        std::fs::write(capture.path(), b"theirs").unwrap();
        assert!(capture.write_at(b"more", 4).is_err());
        assert_eq!(std::fs::read(capture.path()).unwrap(), b"theirs");
        // Nor through a link, be it to our own file.
        std::fs::remove_file(capture.path()).unwrap();
        std::os::unix::fs::symlink("moved", capture.path()).unwrap();
        assert!(capture.write_at(b"more", 4).is_err());
        assert_eq!(std::fs::read(folder.path().join("moved")).unwrap(), b"ours");
    }

    #[test]
    fn threads_of_both_kinds_write_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = capture(folder.path());
        capture.write_at(b"a", 0).unwrap();
        let drain = crate::descriptors::apart(move || {
            capture.write_at(b"bb", 1).unwrap();
            capture.write_at(b"ccc", 3).unwrap();
            capture
        });
        let mut capture = drain.unwrap();
        capture.write_at(b"d", 6).unwrap();
        capture.cut_off(6);
        assert_eq!(std::fs::read(capture.path()).unwrap(), b"abbccc");
    }

    #[test]
    fn the_soft_limit_is_read_and_unlimited_is_none() {
        let table = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units\n\
                 Max cpu time              unlimited            unlimited            seconds\n\
                 Max file size             {soft:<20} unlimited            bytes\n"
            )
        };
        assert_eq!(soft_limit(&table("1048576")), Some(1_048_576));
        assert_eq!(soft_limit(&table("unlimited")), None);
        assert_eq!(soft_limit(""), None);
    }
}
