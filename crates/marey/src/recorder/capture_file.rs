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
        })
    }

    /// Where it was made.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the calling thread can write it now: it may have no free descriptor, or the path may lead elsewhere.
    pub(crate) fn is_within_reach(&mut self) -> bool {
        self.with(|_| Ok(())).is_ok()
    }

    /// Writes bytes at an offset. After an error some of them may be there.
    pub(crate) fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.with(|file| file.write_all_at(bytes, offset))
    }

    /// Cuts it off, or makes it longer by a hole.
    pub(crate) fn set_len(&mut self, length: u64) -> io::Result<()> {
        self.with(|file| file.set_len(length))
    }

    fn with<T>(&mut self, work: impl FnOnce(&File) -> io::Result<T>) -> io::Result<T> {
        if let Some(file) = self.kept.as_ref().and_then(Kept::get) {
            return work(file);
        }
        let mut file = open_plain(OpenOptions::new().write(true), &self.path)?;
        if are_shared() {
            file = out_of_reach(file);
        }
        let metadata = file.metadata()?;
        if (metadata.dev(), metadata.ino()) != (self.device, self.inode) {
            return Err(io::ErrorKind::NotFound.into());
        }
        match Kept::keep(file) {
            Ok(kept) => work(self.kept.insert(kept).get().ok_or(io::ErrorKind::NotFound)?),
            Err(file) => work(&file),
        }
    }
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
        capture.set_len(6).unwrap();
        assert_eq!(std::fs::read(capture.path()).unwrap(), b"abbccc");
    }
}
